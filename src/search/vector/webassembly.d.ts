/** The used parts of WebAssembly; TypeScript declares these types only for browsers. */
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
