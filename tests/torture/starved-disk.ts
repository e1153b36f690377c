/** A small file system in memory that a test can fill to the last byte. */
import { execFileSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const sizeMb = 192

export class StarvedDisk {
  readonly folder: string
  readonly #ballastFile: string
  #ballast: number | undefined
  #topUp: NodeJS.Timeout | undefined
  #relievedAt = -Infinity

  private constructor(folder: string) {
    this.folder = folder
    this.#ballastFile = join(folder, 'ballast')
  }

  /** Mounts a disk at a folder; returns the problem when that is not possible. */
  static mount(folder: string): StarvedDisk | { readonly problem: string } {
    mkdirSync(folder, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', folder], {
        stdio: 'pipe',
      })
    } catch (error) {
      return { problem: (error as Error).message.split('\n')[0]! }
    }
    return new StarvedDisk(folder)
  }

  get isStarved(): boolean {
    return this.#ballast !== undefined
  }

  /** Whether the disk was full at any time since `time`, in milliseconds of performance.now(). */
  wasStarvedSince(time: number): boolean {
    return this.isStarved || this.#relievedAt >= time
  }

  /** Fills the disk. Space that is freed later is filled as well. */
  starve(): void {
    this.#ballast = openSync(this.#ballastFile, 'w')
    this.#fill()
    this.#topUp = setInterval(() => this.#fill(), 20)
  }

  relieve(): void {
    if (this.#ballast === undefined) return
    clearInterval(this.#topUp)
    ftruncateSync(this.#ballast, 0)
    closeSync(this.#ballast)
    rmSync(this.#ballastFile)
    this.#ballast = undefined
    this.#relievedAt = performance.now()
  }

  unmount(): void {
    this.relieve()
    // The unmount is lazy, because a process that was just killed may keep a file open for a
    // moment.
    execFileSync('umount', ['-l', this.folder], { stdio: 'pipe' })
  }

  #fill(): void {
    for (const size of [1_048_576, 65_536, 4_096]) {
      const chunk = Buffer.alloc(size)
      try {
        while (writeSync(this.#ballast!, chunk) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  }
}
