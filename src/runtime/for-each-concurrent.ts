/**
 * Calls `act` for each item in order, with at most `atATime` calls at the same time. After a call
 * has failed, no further call starts.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T>,
  atATime: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = Iterator.from(items)
  let hasFailed = false
  const takeAll = async () => {
    for (const item of left) {
      if (hasFailed) return
      try {
        await act(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: atATime }, takeAll))
}
