/**
 * A page of docs/clients as a recipe. The words after a fence's language say what a block is:
 * `sh install` and `sh run` are commands, `text output` is what the run prints, and a file name
 * is the file that the block is saved as. `sh certificate` makes cert.pem and key.pem, for pages
 * that need a server with TLS.
 */
export interface Recipe {
  /** None where a system brings the client. */
  readonly install: string | undefined
  readonly certificate: string | undefined
  /** Texts by file name. */
  readonly files: Readonly<Record<string, string>>
  readonly run: string
  readonly output: string
}

/** What the page has, by what it is for. */
export function readBlocks(page: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>()
  for (const [, role, text] of page.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)) {
    if (blocks.has(role!)) throw new Error(`The page has two blocks for ${role!}`)
    blocks.set(role!, text!)
  }
  return blocks
}

/** Throws when the page lacks a part. */
export function readRecipe(page: string): Recipe {
  const blocks = readBlocks(page)
  const { install, certificate, run, output, ...files } = Object.fromEntries(blocks)
  if (run === undefined || output === undefined)
    throw new Error('The page has no block that is run, or none with its output')
  return { install, certificate, run, output, files }
}

export interface Client {
  /** Of the page, without `.md`. */
  readonly name: string
  /** As its registry calls it. */
  readonly package: string
  /** The one that was tried, or `any`. */
  readonly version: string
}

/** The clients that docs/clients/README.md lists. */
export function readClients(index: string): readonly Client[] {
  const row = /^\| \[[^\]]+\]\(([\w-]+)\.md\) +\| `([^`]+)` +\| (\S+) +\|/gm
  return Array.from(index.matchAll(row), ([, name, packageName, version]) => ({
    name: name!,
    package: packageName!,
    version: version!,
  }))
}
