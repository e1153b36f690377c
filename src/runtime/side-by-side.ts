/** Does something for each item, for so many of them at a time, in their order. */
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
