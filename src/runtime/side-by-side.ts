/** Calls `act` for each item in order, with at most `atATime` calls running concurrently. */
export async function sideBySide<T>(
  items: Iterable<T>,
  atATime: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = Iterator.from(items)
  const takeAll = async () => {
    for (const item of left) await act(item)
  }
  await Promise.all(Array.from({ length: atATime }, takeAll))
}
