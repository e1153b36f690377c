/**
 * A BERT encoder as an ONNX graph: its input is token ids, its output one vector per token. The
 * weights stay in their file in half precision. The graph converts them to single precision, which
 * ONNX Runtime does once when it loads the graph. The graph also uses fused operators of ONNX
 * Runtime, each of which replaces about a dozen standard operators.
 */
import { basename } from 'node:path'
import { elementTypes, OnnxGraph, type TensorType, type ValueName } from './onnx-graph.ts'
import { roundWeights } from './rounded-weights.ts'
import type { Tensor } from './safetensors.ts'

/** The used fields of a model's config.json. */
export interface BertShape {
  readonly hidden_size: number
  readonly num_attention_heads: number
  readonly num_hidden_layers: number
  readonly layer_norm_eps: number
}

export interface Weights {
  /** Path of a safetensors file. */
  readonly path: string
  readonly tensors: ReadonlyMap<string, Tensor>
}

/**
 * Number format of the large matrix products. 'int8' takes a third of the time, with an error of
 * about 1 %. Its rounding depends on all texts of a run.
 */
export type Precision = 'float' | 'int8'

/**
 * Inputs: `input_ids` and `attention_mask`, both int64 [texts, tokens]; the mask is 1 for tokens
 * and 0 for padding. Output: `last_hidden_state`, float [texts, tokens, hidden].
 */
export function bertGraph(
  shape: BertShape,
  weights: Weights,
  precision: Precision,
): Uint8Array {
  const bert = new BertGraph(shape, weights, precision)
  const { graph } = bert
  const ids = graph.input('input_ids', 'int64', ['texts', 'tokens'])
  const mask = bert.cast(
    graph.input('attention_mask', 'int64', ['texts', 'tokens']),
    'int32',
  )
  let vectors = bert.embed(ids)
  for (let layer = 0; layer < shape.num_hidden_layers; layer++)
    vectors = bert.encode(`encoder.layer.${layer}`, vectors, mask)
  const output = graph.node('Identity', [vectors], { output: 'last_hidden_state' })
  graph.output(output, 'float', ['texts', 'tokens', shape.hidden_size])
  return graph.toModel('bert')
}

/** ONNX Runtime's own operators: docs/ContribOperators.md in its repository. */
const runtimeDomain = 'com.microsoft'

const operatorSets = new Map([
  ['', 17],
  [runtimeDomain, 1],
])

class BertGraph {
  readonly graph = new OnnxGraph(operatorSets)
  readonly #shape: BertShape
  readonly #weights: Weights
  readonly #precision: Precision

  constructor(shape: BertShape, weights: Weights, precision: Precision) {
    this.#shape = shape
    this.#weights = weights
    this.#precision = precision
  }

  /** Sum of word and position embeddings. All tokens belong to the first segment. */
  embed(ids: ValueName): ValueName {
    const { graph } = this
    // Casts only the embeddings of the given tokens. Those of the whole vocabulary are half of all
    // weights.
    const words = this.cast(
      graph.node('Gather', [this.#stored('embeddings.word_embeddings.weight'), ids]),
      'float',
    )
    const length = graph.node('Shape', [ids], { integers: { start: 1, end: 2 } })
    const positions = graph.node('Slice', [
      this.#weight('embeddings.position_embeddings.weight'),
      graph.integers([0]),
      length,
      graph.integers([0]),
    ])
    const segment = graph.node('Gather', [
      this.#weight('embeddings.token_type_embeddings.weight'),
      graph.integers([0]),
    ])
    const places = graph.node('Add', [positions, segment])
    return graph.node(
      'LayerNormalization',
      [
        graph.node('Add', [words, places]),
        this.#weight('embeddings.LayerNorm.weight'),
        this.#weight('embeddings.LayerNorm.bias'),
      ],
      { floats: { epsilon: this.#shape.layer_norm_eps } },
    )
  }

  /** One encoder layer: attention, then a feed-forward network per token. */
  encode(layer: string, vectors: ValueName, mask: ValueName): ValueName {
    const attended = this.#attention(`${layer}.attention.self`, vectors, mask)
    const merged = this.#projectedOnto(vectors, `${layer}.attention.output`, attended)
    const widened = this.graph.node(
      'BiasGelu',
      [
        this.#multiplied(merged, `${layer}.intermediate.dense`),
        this.#weight(`${layer}.intermediate.dense.bias`),
      ],
      { domain: runtimeDomain },
    )
    return this.#projectedOnto(merged, `${layer}.output`, widened)
  }

  cast(value: ValueName, to: TensorType): ValueName {
    return this.graph.node('Cast', [value], { integers: { to: elementTypes[to] } })
  }

  #attention(name: string, vectors: ValueName, mask: ValueName): ValueName {
    const { graph } = this
    const roles = ['query', 'key', 'value']
    const names = roles.map((role) => `${name}.${role}.weight`)
    const bias = graph.node(
      'Concat',
      roles.map((role) => this.#weight(`${name}.${role}.bias`)),
      { integers: { axis: 0 } },
    )
    const options = {
      integers: { num_heads: this.#shape.num_attention_heads },
      domain: runtimeDomain,
    }
    if (this.#precision === 'int8') {
      const [rounded, scale, zero] = this.#rounded(vectors)
      const [weights, scales] = this.#roundedWeights(names)
      const inputs = [rounded, weights, bias, scale, scales, mask, zero]
      return graph.node('QAttention', inputs, options)
    }
    const weights = graph.node(
      'Concat',
      names.map((name) => this.#transposed(name)),
      { integers: { axis: 1 } },
    )
    return graph.node('Attention', [vectors, weights, bias, mask], options)
  }

  #projectedOnto(vectors: ValueName, name: string, added: ValueName): ValueName {
    return this.graph.node(
      'SkipLayerNormalization',
      [
        this.#multiplied(added, `${name}.dense`),
        vectors,
        this.#weight(`${name}.LayerNorm.weight`),
        this.#weight(`${name}.LayerNorm.bias`),
        this.#weight(`${name}.dense.bias`),
      ],
      { floats: { epsilon: this.#shape.layer_norm_eps }, domain: runtimeDomain },
    )
  }

  #multiplied(vectors: ValueName, name: string): ValueName {
    if (this.#precision === 'float')
      return this.graph.node('MatMul', [vectors, this.#transposed(`${name}.weight`)])
    const [rounded, scale, zero] = this.#rounded(vectors)
    const [weights, scales] = this.#roundedWeights([`${name}.weight`])
    const inputs = [rounded, weights, scale, scales, zero]
    return this.graph.node('MatMulIntegerToFloat', inputs, { domain: runtimeDomain })
  }

  /** Quantizes to 8 bits. Returns the integers, the scale and the zero point. */
  #rounded(vectors: ValueName): [ValueName, ValueName, ValueName] {
    return this.graph.nodeOfThree('DynamicQuantizeLinear', [vectors])
  }

  #roundedWeights(names: readonly string[]): [ValueName, ValueName] {
    const tensors = names.map((name) => this.#tensor(name))
    const { numbers, scales } = roundWeights(this.#weights.path, tensors)
    const shape = [numbers.length / scales.length, scales.length]
    return [
      this.graph.numbers('int8', shape, numbers),
      this.graph.numbers('float', [scales.length], scales),
    ]
  }

  /**
   * A weight as a factor of a matrix product. Weights are stored with one row per output, but the
   * product needs one row per input.
   */
  #transposed(name: string): ValueName {
    return this.graph.node('Transpose', [this.#weight(name)])
  }

  #weight(name: string): ValueName {
    return this.cast(this.#stored(name), 'float')
  }

  #stored(name: string): ValueName {
    const { shape, offset, size } = this.#tensor(name)
    const file = basename(this.#weights.path)
    return this.graph.weight(name, { type: 'float16', shape, file, offset, size })
  }

  #tensor(name: string): Tensor {
    const { path, tensors } = this.#weights
    const tensor = tensors.get(name)
    if (tensor === undefined) throw new Error(`${path} has no weights named ${name}`)
    if (tensor.type !== 'F16')
      throw new Error(`${path} has the weights ${name} as ${tensor.type}, not as F16`)
    return tensor
  }
}
