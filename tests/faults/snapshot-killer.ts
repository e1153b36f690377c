/**
 * A thread that kills a process as soon as it starts to write a snapshot. It needs a thread because
 * a snapshot is written faster than a busy thread polls.
 */
import { watch } from 'node:fs'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

interface Aim {
  /** The folder of the snapshots, which must exist. */
  readonly folder: string
  readonly pid: number
}

/** Starts the thread; resolves after it has killed the process. */
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
