/** What we use of WebAssembly: the types that Node has it with are only in the browser's. */
declare namespace WebAssembly {
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class
  class Module {
    constructor(bytes: Uint8Array)
  }

  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Record<string, unknown>
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true })
    readonly buffer: SharedArrayBuffer
    grow(pages: number): number
  }
}
