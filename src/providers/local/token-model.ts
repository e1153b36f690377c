/** A model that is ready to run: its tokenizer and its ONNX session. */
import type { ExitGuard } from './exit-guard.ts'
import { importRuntime, makeTokenizer } from './packages.ts'
import type { TokenizedText, Runtime, OnnxSession, ModelTokenizer } from './packages.ts'

export interface ModelSource {
  /**
   * The graph or its path, in the common export format: inputs `input_ids`, `attention_mask` and
   * optionally `token_type_ids`.
   */
  readonly graph: Uint8Array | string
  /** Folder of the weights, if `graph` contains the graph itself. */
  readonly weightsFolder?: string
  /** Preferred outputs; the first that exists is read, otherwise the graph's first output. */
  readonly outputs: readonly string[]
  /** Contents of tokenizer.json and tokenizer_config.json. */
  readonly tokenizer: object
  readonly tokenizerConfig: object
  /** Maximum tokens of a text; the remaining text is ignored. */
  readonly tokensMax: number
  /** How the token vectors are combined into the vector of a text. */
  readonly pooling: Pooling
  /** Whether the result of a text would depend on other texts in the same run. */
  readonly runsAlone: boolean
}

export type Pooling = 'mean' | 'first'

/** Token ids of a text with markers, and their segments: 1 for the second text of a pair. */
export interface Tokens {
  readonly ids: readonly number[]
  readonly segments: readonly number[]
}

/** Output for a text: a vector per token, or a single vector. */
export interface EncodedText {
  readonly ids: readonly number[]
  /** The vectors, concatenated. */
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

  /** Loads a model. `threads` is the maximum number of threads per run. */
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
    // The file's settings for truncation and padding were made for training. This class truncates
    // and pads texts itself.
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

  /** Tokenizes a text. With `question`, tokenizes a pair whose second text is `text`. */
  tokenize(text: string, question?: string): Tokens {
    const charactersMax = this.#tokensMax * wordLengthMax
    // With at least this many tokens, the position of the cut does not affect the first `tokensMax`
    // tokens.
    const tokensEnough = this.#tokensMax + wordLengthMax
    // Only the start of a long text matters. The number of its tokens shows whether enough
    // characters were tokenized.
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

  /**
   * Encodes texts in one run, which blocks the thread. Texts of similar lengths need little
   * padding.
   */
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

  /** Truncates tokens to the maximum, but keeps the last token, which marks the end. */
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

/** Maximum characters of a word; most models treat longer words as unknown. */
const wordLengthMax = 100

/** Characters of a text that are tokenized first: enough for 256 tokens of prose. */
const charactersFirst = 2_000

function sessionOptions(threads: number, weightsFolder: string | undefined): object {
  return {
    // Errors are thrown; warnings about the graph would only fill the log.
    logSeverityLevel: 3,
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    extra: {
      session: {
        // Spinning threads would occupy cores while they wait.
        intra_op: { allow_spinning: '0' },
        ...(weightsFolder !== undefined && {
          model_external_initializers_file_folder_path: weightsFolder,
        }),
      },
    },
  }
}
