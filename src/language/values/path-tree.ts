/**
 * A tree of paths, by segment. It detects overlaps: equal paths, and paths above or below each
 * other. The paths of a projection, an update or an upsert must not overlap.
 */
export class PathTree<Leaf> {
  readonly children = new Map<string, PathTree<Leaf>>()
  /** The value of the path that ends here; undefined for nodes above the end of a path. */
  leaf: Leaf | undefined

  /**
   * Adds a path; returns the leaf of a path that it overlaps, if any. A path below another one is
   * not added; a path above others is added and keeps them.
   */
  add(segments: readonly string[], leaf: Leaf & {}): Leaf | undefined {
    return addPath(this, segments, leaf)
  }
}

/** Adds a path in a loop: a client's path may be deeper than the stack. */
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
