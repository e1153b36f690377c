/**
 * Parses a page of docs/clients as a recipe. The words after a fence's language state the
 * purpose of a block: `sh install` and `sh run` are commands, `text output` is the expected
 * output, and a file name is the file to save the block as. `sh certificate` creates cert.pem
 * and key.pem, for pages that need a server with TLS.
 */
export interface Recipe {
  /** The commands that install the client; undefined if the system includes it. */
  readonly install: string | undefined
  readonly certificate: string | undefined
  /** Texts of the files to save, by file name. */
  readonly files: Readonly<Record<string, string>>
  readonly run: string
  readonly output: string
}

/** The blocks of a page, by purpose. */
export function readBlocks(page: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>()
  for (const [, role, text] of page.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)) {
    if (blocks.has(role!)) throw new Error(`The page has two blocks for ${role!}`)
    blocks.set(role!, text!)
  }
  return blocks
}

/** Parses a page as a recipe; throws when a required block is missing. */
export function readRecipe(page: string): Recipe {
  const blocks = readBlocks(page)
  const { install, certificate, run, output, ...files } = Object.fromEntries(blocks)
  if (run === undefined || output === undefined)
    throw new Error('The page has no block that is run, or none with its output')
  return { install, certificate, run, output, files }
}

export interface Client {
  /** Name of the page, without `.md`. */
  readonly name: string
  /** Name in the package registry. */
  readonly package: string
  /** The tested version, or `any`. */
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
