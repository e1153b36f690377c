/**
 * A module to preload into a process. It takes all free file handles except HANDLES_LEFT of them.
 */
import { closeSync, openSync } from 'node:fs'

export function takeHandles(left: number): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
  }
  for (const handle of taken.splice(0, left)) closeSync(handle)
  return taken
}

const left = process.env['HANDLES_LEFT']
if (left !== undefined) takeHandles(Number(left))
