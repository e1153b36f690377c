/**
 * Paths as a tree of their segments, which tells when one is the same as, above or below
 * another. The paths of a projection, of an update or of an upsert must not overlap so.
 */
export class PathTree<Leaf> {
  readonly children = new Map<string, PathTree<Leaf>>()
  /** What the path that ends here stands for; nodes above a path's end have none. */
  leaf: Leaf | undefined

  /**
   * Adds a path, and returns the leaf of one that it overlaps, if it does. Below another
   * path there is nothing to add; a path above others stays beside them.
   */
  add(segments: readonly string[], leaf: Leaf & {}): Leaf | undefined {
    return addPath(this, segments, leaf)
  }
}

// Loops, because paths of the caller's making may be deeper than the stack.

function addPath<Leaf>(
  tree: PathTree<Leaf>,
  segments: readonly string[],
  leaf: Leaf,
): Leaf | undefined {
  let node = tree
  for (const segment of segments) {
    if (node.leaf !== undefined) return node.leaf
    let child = node.children.get(segment)
    if (child === undefined) {
      child = new PathTree()
      node.children.set(segment, child)
    }
    node = child
  }
  const overlapped = firstLeaf(node)
  node.leaf ??= leaf
  return overlapped
}

function firstLeaf<Leaf>(tree: PathTree<Leaf>): Leaf | undefined {
  let node = tree
  while (node.leaf === undefined) {
    const [child] = node.children.values()
    if (child === undefined) return undefined
    node = child
  }
  return node.leaf
}
