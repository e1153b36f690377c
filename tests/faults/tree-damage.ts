/** Changes one place of a tree of JSON values. */
import type { Random } from './random.ts'

/** Random keys and values that are wrong in most places. */
export interface Odd {
  key(random: Random): string
  value(random: Random): unknown
}

/** Whether a node can have children: whether it is an array or a plain object. */
export function isBranch(node: unknown): node is object {
  if (typeof node !== 'object' || node === null) return false
  return Array.isArray(node) || Object.getPrototypeOf(node) === Object.prototype
}

/** Changes one random node whose depth is at least `levels`. */
export function changeSomewhere(
  tree: unknown,
  levels: number,
  random: Random,
  change: (node: unknown) => unknown,
): unknown {
  const passing = { left: random.below(countNodes(tree, levels)) }
  return changeNode(tree, levels, passing, change)
}

/** A random node of the tree. */
export function pickNode(tree: unknown, random: Random): unknown {
  let picked: unknown
  changeSomewhere(tree, 0, random, (node) => (picked = node))
  return picked
}

function countNodes(tree: unknown, levels: number): number {
  let count = levels <= 0 ? 1 : 0
  if (isBranch(tree))
    for (const child of Object.values(tree)) count += countNodes(child, levels - 1)
  return count
}

/** Changes the node that is reached after `passing.left` other nodes of sufficient depth. */
function changeNode(
  tree: unknown,
  levels: number,
  passing: { left: number },
  change: (node: unknown) => unknown,
): unknown {
  if (levels <= 0 && passing.left-- === 0) return change(tree)
  if (!isBranch(tree)) return tree
  const changed = (child: unknown) => changeNode(child, levels - 1, passing, change)
  if (Array.isArray(tree)) return tree.map(changed)
  return Object.fromEntries(
    Object.entries(tree).map(([key, child]) => [key, changed(child)]),
  )
}

/**
 * A copy of a node with one fault: a member or element is missing, added, renamed, or one level too
 * deep.
 */
export function damageBranch(node: object, random: Random, odd: Odd): unknown {
  return Array.isArray(node)
    ? damageList(node, random, odd)
    : damageObject(node, random, odd)
}

function damageObject(node: object, random: Random, odd: Odd): unknown {
  const entries: [string, unknown][] = Object.entries(node)
  if (entries.length === 0)
    return Object.fromEntries([[odd.key(random), odd.value(random)]])
  const at = random.below(entries.length)
  const [key, value] = entries[at]!
  switch (random.below(6)) {
    case 0:
      entries.splice(at, 1)
      break
    case 1:
      entries[at] = [odd.key(random), value]
      break
    case 2:
      entries.push([odd.key(random), odd.value(random)])
      break
    case 3:
      entries[at] = [key, Object.fromEntries([[odd.key(random), value]])]
      break
    case 4:
      entries[at] = [key, [value]]
      break
    default:
      entries[at] = [key, node]
  }
  return Object.fromEntries(entries)
}

function damageList(list: readonly unknown[], random: Random, odd: Odd): unknown {
  switch (random.below(4)) {
    case 0:
      return list.slice(1)
    case 1:
      return [...list, ...list]
    case 2:
      return Object.fromEntries([[odd.key(random), list]])
    default:
      return [...list, odd.value(random)]
  }
}
