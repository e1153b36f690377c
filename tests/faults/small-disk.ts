/**
 * A file system of a few megabytes, which tests can fill, empty and make read-only. Mounting needs
 * privileges. If they are missing, `noDisks` states the reason.
 */
import { execFileSync } from 'node:child_process'
import { openSync, closeSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../harness.ts'

export class SmallDisk {
  readonly path: string
  #isCovered = false

  private constructor(path: string) {
    this.path = path
    mounted.add(this)
  }

  static async mount(megabytes: number): Promise<SmallDisk> {
    const path = await temporaryFolder()
    try {
      run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'stela-test', path)
    } catch (error) {
      rmSync(path, { recursive: true })
      throw error
    }
    return new SmallDisk(path)
  }

  /** The data folder. Its name contains characters that programs often mishandle. */
  get data(): string {
    return join(this.path, 'the data %20?#ü')
  }

  /** Fills the disk until about `leaving` bytes are free. */
  fill(leaving = 0): void {
    const handle = openSync(this.#ballast, 'a')
    try {
      const { bavail, bsize } = statfsSync(this.path)
      const page = Buffer.alloc(4096, 1)
      for (let left = bavail * bsize - leaving; left >= page.length; left -= page.length)
        writeSync(handle, page)
    } catch (error) {
      // ENOSPC means that another process has used the remaining space, so the disk is full as
      // intended.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(handle)
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true })
  }

  remount(how: 'ro' | 'rw'): void {
    run('mount', '-o', `remount,${how}`, this.path)
  }

  resize(megabytes: number): void {
    run('mount', '-o', `remount,size=${megabytes}m`, this.path)
  }

  /**
   * Makes the data folder read-only for files that are opened later. The file system itself cannot
   * be remounted read-only while files are open for writing.
   */
  cover(): void {
    run('mount', '--bind', this.data, this.data)
    this.#isCovered = true
    run('mount', '-o', 'remount,bind,ro', this.data)
  }

  uncover(): void {
    if (this.#isCovered) run('umount', '--lazy', this.data)
    this.#isCovered = false
  }

  unmount(): void {
    if (!mounted.delete(this)) return
    this.uncover()
    // `--lazy`, because a process may still use the disk.
    run('umount', '--lazy', this.path)
    rmSync(this.path, { recursive: true, force: true })
  }

  get #ballast(): string {
    return join(this.path, 'ballast')
  }
}

const mounted = new Set<SmallDisk>()

/** Unmounts disks that a failed test left mounted. */
export function unmountLeftovers(): void {
  for (const disk of [...mounted]) disk.unmount()
}

/** The reason why small disks are not available here; undefined if they are available. */
export const noDisks: string | undefined = await tryOut()

async function tryOut(): Promise<string | undefined> {
  try {
    const disk = await SmallDisk.mount(1)
    disk.unmount()
    return undefined
  } catch (error) {
    return `this machine lets nobody mount a small disk: ${String(error).split('\n', 1)[0]!}`
  }
}

function run(program: string, ...words: readonly string[]): void {
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
}
