/** A model that reads tokens, ready to run: its tokenizer and its graph. */
import type { ExitGuard } from './exit-guard.ts'
import { importRuntime, makeTokenizer } from './packages.ts'
import type { TokenizedText, Runtime, OnnxSession, ModelTokenizer } from './packages.ts'

export interface ModelSource {
  /**
   * The graph itself or the path of one, as models are commonly exported to ONNX: it takes
   * `input_ids`, `attention_mask` and, if it knows segments, `token_type_ids`.
   */
  readonly graph: Uint8Array | string
  /** Where the weights of a graph that is not a file are. */
  readonly weightsFolder?: string
  /** Which of the graph's outputs to read, the first that there is; else its first. */
  readonly outputs: readonly string[]
  /** The contents of tokenizer.json and of tokenizer_config.json. */
  readonly tokenizer: object
  readonly tokenizerConfig: object
  /** Tokens of a text that the model looks at; what comes later is ignored. */
  readonly tokensMax: number
  /** How the vectors of tokens become that of the text. */
  readonly pooling: Pooling
  /** Whether what it makes of a text would depend on others of the same run. */
  readonly runsAlone: boolean
}

export type Pooling = 'mean' | 'first'

/** The tokens of a text, with marks, and the segment of each: 1 for the second of a pair. */
export interface Tokens {
  readonly ids: readonly number[]
  readonly segments: readonly number[]
}

/** What the model makes of a text: a vector for each token, or a single one. */
export interface EncodedText {
  readonly ids: readonly number[]
  /** The vectors, one after the other. */
  readonly numbers: Float32Array
  readonly dimension: number
}

interface Parts {
  readonly runtime: Runtime
  readonly session: OnnxSession
  readonly tokenizer: ModelTokenizer
  readonly guard: ExitGuard
}

export class TokenModel {
  readonly pooling: Pooling
  readonly runsAlone: boolean
  readonly #parts: Parts
  readonly #output: string
  readonly #tokensMax: number

  /** `threads` is how many a run may use. */
  static async open(
    source: ModelSource,
    threads: number,
    guard: ExitGuard,
  ): Promise<TokenModel> {
    const runtime = await importRuntime()
    const options = sessionOptions(threads, source.weightsFolder)
    const session = await guard.during(() =>
      runtime.InferenceSession.create(source.graph, options),
    )
    // What the file says about cutting and filling up is for training; both are done here.
    const definition = { ...source.tokenizer, truncation: null, padding: null }
    const tokenizer = await makeTokenizer(definition, source.tokenizerConfig)
    return new TokenModel({ runtime, session, tokenizer, guard }, source)
  }

  private constructor(parts: Parts, source: ModelSource) {
    const { outputNames } = parts.session
    const { outputs, tokensMax, pooling, runsAlone } = source
    this.#parts = parts
    this.#output = outputs.find((name) => outputNames.includes(name)) ?? outputNames[0]!
    this.#tokensMax = tokensMax
    this.pooling = pooling
    this.runsAlone = runsAlone
  }

  /** With a question, the text is read as the second of a pair. */
  tokenize(text: string, question?: string): Tokens {
    const charactersMax = this.#tokensMax * wordLengthMax
    // With this many tokens, the first `tokensMax` do not depend on where the text was cut.
    const tokensEnough = this.#tokensMax + wordLengthMax
    // Only the start of a long text matters; its tokens tell how many characters that is.
    let length = charactersFirst
    let encoding = this.#encode(text.slice(0, length), question?.slice(0, charactersMax))
    while (
      length < Math.min(text.length, charactersMax) &&
      encoding.ids.length < tokensEnough
    ) {
      length *= 4
      encoding = this.#encode(text.slice(0, length), question?.slice(0, charactersMax))
    }
    const { ids, token_type_ids: segments } = encoding
    return { ids: this.#cut(ids), segments: this.#cut(segments) }
  }

  /** Holds up the thread until it is done. The texts are best of about the same length. */
  async run(texts: readonly Tokens[]): Promise<readonly EncodedText[]> {
    const { session, guard } = this.#parts
    const longest = Math.max(...texts.map(({ ids }) => ids.length))
    const inputs = this.#inputs(texts, longest)
    const results = await guard.during(() => session.run(inputs))
    const { data, dims } = results[this.#output]!
    const numbers = data as Float32Array
    const dimension = dims.at(-1)!
    const size = numbers.length / texts.length
    const isPerToken = dims.length > 2
    return texts.map(({ ids }, i) => {
      const count = isPerToken ? ids.length * dimension : size
      return { ids, dimension, numbers: numbers.subarray(i * size, i * size + count) }
    })
  }

  async close(): Promise<void> {
    const { session, guard } = this.#parts
    await guard.during(() => session.release())
  }

  #encode(text: string, question: string | undefined): TokenizedText {
    const { tokenizer } = this.#parts
    return question === undefined
      ? tokenizer.encode(text, { return_token_type_ids: true })
      : tokenizer.encode(question, { text_pair: text, return_token_type_ids: true })
  }

  /** The last token is the mark of the end, which stays. */
  #cut(tokens: readonly number[]): readonly number[] {
    const max = this.#tokensMax
    return tokens.length > max ? [...tokens.slice(0, max - 1), tokens.at(-1)!] : tokens
  }

  #inputs(texts: readonly Tokens[], longest: number): Record<string, object> {
    const { runtime, session } = this.#parts
    const ids = new BigInt64Array(texts.length * longest)
    const mask = new BigInt64Array(ids.length)
    const segments = new BigInt64Array(ids.length)
    for (const [i, text] of texts.entries()) {
      const start = i * longest
      ids.set(text.ids.map(BigInt), start)
      mask.fill(1n, start, start + text.ids.length)
      segments.set(text.segments.map(BigInt), start)
    }
    const tensor = (numbers: BigInt64Array): object =>
      new runtime.Tensor('int64', numbers, [texts.length, longest])
    return {
      input_ids: tensor(ids),
      attention_mask: tensor(mask),
      ...(session.inputNames.includes('token_type_ids') && {
        token_type_ids: tensor(segments),
      }),
    }
  }
}

/** Characters of a word. Most models treat longer words as unknown. */
const wordLengthMax = 100

/** Enough for 256 tokens of prose. */
const charactersFirst = 2_000

function sessionOptions(threads: number, weightsFolder: string | undefined): object {
  return {
    // Problems come as exceptions; warnings about the graph would only fill the log.
    logSeverityLevel: 3,
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    extra: {
      session: {
        // Threads that spin while they wait take the cores from everything else.
        intra_op: { allow_spinning: '0' },
        ...(weightsFolder !== undefined && {
          model_external_initializers_file_folder_path: weightsFolder,
        }),
      },
    },
  }
}
