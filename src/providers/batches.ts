/**
 * Runs batches, several concurrently, and joins the results in order. The first failure stops all
 * other batches.
 */

/** Maximum number of batches of one request that run at the same time. */
const batchesAtOnce = 4

export async function inBatches<T, Result>(
  items: readonly T[],
  sizeMax: number,
  signal: AbortSignal,
  run: (batch: readonly T[], signal: AbortSignal) => Promise<readonly Result[]>,
): Promise<Result[]> {
  signal.throwIfAborted()
  const batches: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += sizeMax)
    batches.push(items.slice(at, at + sizeMax))
  const results: (readonly Result[])[] = []
  const stop = new AbortController()
  // AbortSignal.any would add one signal per call to the signal of a connection, which may live
  // long.
  const onAbort = () => stop.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  let next = 0
  const work = async () => {
    while (next < batches.length && !stop.signal.aborted) {
      const at = next++
      results[at] = await run(batches[at]!, stop.signal)
    }
  }
  const workers = Array.from({ length: Math.min(batchesAtOnce, batches.length) }, work)
  try {
    await Promise.all(workers)
  } catch (failure) {
    stop.abort()
    await Promise.allSettled(workers)
    throw failure
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  signal.throwIfAborted()
  return results.flat()
}
