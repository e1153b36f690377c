/**
 * A temporary folder and a child process in it. When the test process ends, a guard kills the child
 * process and removes the folder.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Socket } from 'node:net'

/**
 * Reads process ids until the test process closes the pipe or dies. Then kills the process with the
 * last id, if any, and removes the folder.
 */
const script = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -9 "$pid"; sleep 1; fi
rm -rf "$1"`

export class GuardedFolder {
  readonly path: string
  readonly #guard: ChildProcess
  readonly #pipe: Socket

  private constructor(path: string) {
    this.path = path
    // The guard gets a process group of its own, so that Ctrl-C does not reach it.
    this.#guard = spawn('sh', ['-c', script, 'guard', path], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#pipe = this.#guard.stdin as Socket
    this.#guard.unref()
    this.#pipe.unref()
  }

  static async make(): Promise<GuardedFolder> {
    return new GuardedFolder(await mkdtemp(join(await roomyPlace(), 'stela-cassandra-')))
  }

  /**
   * Sets the process that the guard must kill; undefined once the process has ended, because the
   * system may reuse its id.
   */
  watch(pid: number | undefined): void {
    this.#pipe.write(`${pid ?? ''}\n`)
  }

  async remove(): Promise<void> {
    if (this.#guard.exitCode !== null) return
    this.#guard.ref()
    this.#pipe.end()
    await once(this.#guard, 'exit')
  }
}

/** Disk space that a node needs in a long run of tests, with a reserve. */
const roomBytes = 2 * 1024 ** 3

/** A folder in memory when there is enough space, otherwise the temporary folder of the system. */
async function roomyPlace(): Promise<string> {
  const inMemory = '/dev/shm'
  try {
    const { bavail, bsize } = await statfs(inMemory)
    if (bavail * bsize >= roomBytes) return inMemory
  } catch {
    // /dev/shm does not exist on every system.
  }
  return tmpdir()
}
