/**
 * A thread that kills a process as soon as that process starts to write a snapshot. Watching on a
 * busy thread would notice the start only after the snapshot is complete.
 */
import { watch } from 'node:fs'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

interface Aim {
  /** The folder of the snapshots, which must exist. */
  readonly folder: string
  readonly pid: number
}

/** Starts the thread. Resolves after the thread has killed the process. */
export function killWithSnapshot(aim: Aim): Promise<void> {
  const killer = new Worker(new URL(import.meta.url), {
    workerData: aim,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  killer.unref()
  return new Promise((resolve, reject) => {
    killer.once('exit', () => resolve())
    killer.once('error', reject)
  })
}

function lieInWait({ folder, pid }: Aim): void {
  const watcher = watch(folder, (_, name) => {
    if (!name?.endsWith('.graph')) return
    process.kill(pid, 'SIGKILL')
    watcher.close()
  })
}

if (!isMainThread) lieInWait(workerData as Aim)
