/**
 * A tree of paths, by segment. It detects overlaps: equal paths, and paths above or below other
 * paths. The paths of a projection, an update or an upsert must not overlap.
 */
export class PathTree<Leaf> {
  readonly children = new Map<string, PathTree<Leaf>>()
  /** The value of the path that ends here; undefined for nodes above the end of a path. */
  leaf: Leaf | undefined

  /**
   * Adds a path. Returns the leaf of a path that it overlaps, if any. A path below another path is
   * not added. A path above others is added, and the paths below it remain in the tree.
   */
  add(segments: readonly string[], leaf: Leaf & {}): Leaf | undefined {
    return addPath(this, segments, leaf)
  }
}

/**
 * Adds a path. A loop instead of recursion, because a client's path may be deeper than the call
 * stack.
 */
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
