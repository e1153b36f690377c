/**
 * Files of ours that are loaded by name at run time, such as those of threads. In a checkout
 * they are TypeScript beside the file that asks. The installed package has all of them as
 * JavaScript in one folder, where package/build.ts writes them: above the place of this file.
 */
const isSource = import.meta.url.endsWith('.ts')

/** Where tests of a checkout find them built, if so: `npm test` starts threads by the thousand. */
const builtFolder = isSource
  ? process.env['STELA_TEST_BUILT']
  : new URL('../', import.meta.url).href

/** The module `name`, in the folder of the one that asks: its `import.meta.url`. */
export function siblingModule(name: string, askedBy: string): URL {
  return builtFolder === undefined
    ? new URL(`${name}.ts`, askedBy)
    : new URL(`${name}.js`, builtFolder)
}
