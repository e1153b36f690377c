/**
 * Runs the image of a Dockerfile without a container runtime. It copies the last stage into an
 * empty folder, which becomes the root of a process. The folder contains only the files of the
 * image, Node, the libraries that Node is linked with, and the remaining libraries of the C
 * library.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chownSync, copyFileSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of each stage, without comments. */
export function readStages(file: string): Instruction[][] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const stages: Instruction[][] = []
  for (const line of lines) {
    const [, name, text] = /^([A-Z]+) (.*)$/.exec(line)!
    if (name === 'FROM') stages.push([])
    stages.at(-1)!.push({ name: name!, text: text! })
  }
  return stages
}

export class BareRoot {
  readonly #root: string
  // Commands in the root need only /bin. The other folders contain chroot and unshare, which are
  // started outside the root.
  readonly #environment: Record<string, string> = { PATH: '/bin:/usr/bin:/usr/sbin' }
  readonly #last = new Map<string, string>()
  #workingDirectory = '/'
  #user = '0:0'

  /**
   * Builds the root from the instructions of a stage. `built` is the working directory of the first
   * stage.
   */
  constructor(root: string, stage: readonly Instruction[], built: string) {
    this.#root = root
    this.#installNode()
    for (const { name, text } of stage)
      switch (name) {
        case 'FROM':
        case 'LABEL':
        case 'EXPOSE':
        case 'VOLUME':
          break
        case 'ENV':
          for (const [, key, value] of text.matchAll(/(\w+)=(\S+)/g))
            this.#environment[key!] = value!
          break
        case 'WORKDIR':
          this.#workingDirectory = text
          break
        case 'USER':
          this.#user = text
          break
        case 'COPY':
          this.#copy(text, built)
          break
        case 'HEALTHCHECK':
        case 'ENTRYPOINT':
        case 'CMD':
          this.#last.set(name, text)
          break
        default:
          throw new Error(`The last stage has ${name}, which needs a container to run`)
      }
  }

  /** Starts the command of the image. */
  start(environment: Record<string, string>): ChildProcess {
    return this.#spawn([...this.#words('ENTRYPOINT'), ...this.#words('CMD')], environment)
  }

  /** Runs the health check of the image; returns its exit code. */
  healthCheck(environment: Record<string, string>): Promise<number | null> {
    const child = this.#spawn(this.#words('HEALTHCHECK'), environment)
    return new Promise((resolve) => child.once('close', resolve))
  }

  #words(name: string): string[] {
    const list = /\[.*\]$/.exec(this.#last.get(name)!)![0]
    return JSON.parse(list) as string[]
  }

  /**
   * Runs a command in the root folder. The command runs as the user of the image if this process
   * runs as user root. Otherwise it runs as the user of this process.
   */
  #spawn(command: readonly string[], environment: Record<string, string>): ChildProcess {
    const [uid, gid] = this.#user.split(':')
    const enter =
      process.getuid!() === 0
        ? ['chroot', `--userspec=${uid}:${gid}`, this.#root]
        : ['unshare', '--map-root-user', 'chroot', this.#root]
    return spawn(enter[0]!, [...enter.slice(1), ...command], {
      env: { ...this.#environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  #copy(text: string, built: string): void {
    const [, owned, from, to] = /^--from=build (--chown=\S+ )?(\S+) (\S+)$/.exec(text) ?? []
    if (from === undefined) throw new Error(`COPY ${text} is of a form that is not known`)
    const target = join(
      this.#root,
      to!.startsWith('/') ? to! : join(this.#workingDirectory, to!),
    )
    if (from === '/empty') mkdirSync(target, { recursive: true })
    else {
      const source = join(built, from.replace(`${this.#workingDirectory}/`, ''))
      const place = to!.endsWith('/') ? join(target, from.split('/').at(-1)!) : target
      cpSync(source, place, { recursive: true, verbatimSymlinks: true })
    }
    if (owned !== undefined && process.getuid!() === 0) chownSync(target, 1000, 1000)
  }

  #installNode(): void {
    const { stdout } = spawnSync('ldd', [process.execPath], { encoding: 'utf8' })
    const libraries = Array.from(stdout.matchAll(/\/\S+(?= \(0x)/g), ([path]) => path)
    const main = libraries.find((path) => path.includes('/libc.so'))
    const others =
      main === undefined ? [] : partsOfLibc.map((name) => join(main, '..', name))
    for (const path of new Set([...libraries, ...others])) {
      mkdirSync(join(this.#root, dirname(path)), { recursive: true })
      copyFileSync(path, join(this.#root, path))
    }
    mkdirSync(join(this.#root, 'bin'), { recursive: true })
    copyFileSync(process.execPath, join(this.#root, 'bin/node'))
  }
}

/**
 * Libraries that the runtime of the built-in model is linked with, and that every base image
 * contains.
 */
const partsOfLibc = ['libdl.so.2', 'libpthread.so.0', 'librt.so.1']
