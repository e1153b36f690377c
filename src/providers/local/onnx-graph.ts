/**
 * Writes an ONNX model: nodes, each with named output values, and weights, which may stay in a
 * separate file. Field numbers are from onnx.proto3.
 */
import { bytesField, floatField, join, numberField } from './protobuf.ts'

/** Element types with their numbers in TensorProto.DataType. */
export const elementTypes = { float: 1, int8: 3, int32: 6, int64: 7, float16: 10 } as const

export type TensorType = keyof typeof elementTypes

/** Name of a value in the graph. */
export type ValueName = string

type TypedArray = Float32Array | Int8Array | BigInt64Array

/** A byte range of a file in the session's folder of weights. */
export interface StoredWeight {
  readonly type: TensorType
  readonly shape: readonly number[]
  readonly file: string
  readonly offset: number
  readonly size: number
}

export interface NodeOptions {
  readonly integers?: Readonly<Record<string, number>>
  readonly floats?: Readonly<Record<string, number>>
  /** Domain of a non-standard operator. */
  readonly domain?: string
  /** Name of the node's output, if it is an output of the model; absent: a generated name. */
  readonly output?: ValueName
}

export class OnnxGraph {
  readonly #domains: ReadonlyMap<string, number>
  readonly #fields: Uint8Array[] = []
  #values = 0

  /** Versions of the operator sets by domain; the standard domain is ''. */
  constructor(operatorSets: ReadonlyMap<string, number>) {
    this.#domains = operatorSets
  }

  /** Adds an input of the model. A dimension given as text is a variable name. */
  input(name: string, type: TensorType, shape: readonly (number | string)[]): ValueName {
    this.#fields.push(bytesField(graphFields.input, valueInfo(name, type, shape)))
    return name
  }

  output(value: ValueName, type: TensorType, shape: readonly (number | string)[]): void {
    this.#fields.push(bytesField(graphFields.output, valueInfo(value, type, shape)))
  }

  weight(name: string, weight: StoredWeight): ValueName {
    const { type, shape, file, offset, size } = weight
    const tensor = join([
      ...shape.map((length) => numberField(1, length)),
      numberField(2, elementTypes[type]),
      bytesField(8, name),
      bytesField(13, entry('location', file)),
      bytesField(13, entry('offset', String(offset))),
      bytesField(13, entry('length', String(size))),
      numberField(14, externalLocation),
    ])
    this.#fields.push(bytesField(graphFields.initializer, tensor))
    return name
  }

  /** A weight that is stored within the model. */
  numbers(type: TensorType, shape: readonly number[], numbers: TypedArray): ValueName {
    const name = this.#nextValue('numbers')
    const { buffer, byteOffset, byteLength } = numbers
    const tensor = join([
      ...shape.map((length) => numberField(1, length)),
      numberField(2, elementTypes[type]),
      bytesField(8, name),
      bytesField(9, new Uint8Array(buffer, byteOffset, byteLength)),
    ])
    this.#fields.push(bytesField(graphFields.initializer, tensor))
    return name
  }

  integers(values: readonly number[]): ValueName {
    return this.numbers('int64', [values.length], BigInt64Array.from(values.map(BigInt)))
  }

  node(
    operator: string,
    inputs: readonly ValueName[],
    options: NodeOptions = {},
  ): ValueName {
    const output = options.output ?? this.#nextValue(operator)
    this.#addNode(operator, inputs, [output], options)
    return output
  }

  /** A node with three outputs. */
  nodeOfThree(
    operator: string,
    inputs: readonly ValueName[],
  ): [ValueName, ValueName, ValueName] {
    const outputs: [ValueName, ValueName, ValueName] = [
      this.#nextValue(operator),
      this.#nextValue(operator),
      this.#nextValue(operator),
    ]
    this.#addNode(operator, inputs, outputs, {})
    return outputs
  }

  toModel(name: string): Uint8Array {
    return join([
      numberField(1, irVersion),
      bytesField(2, 'stela'),
      bytesField(7, join([bytesField(graphFields.name, name), ...this.#fields])),
      ...[...this.#domains].map(([domain, version]) =>
        bytesField(8, join([bytesField(1, domain), numberField(2, version)])),
      ),
    ])
  }

  #addNode(
    operator: string,
    inputs: readonly ValueName[],
    outputs: readonly ValueName[],
    { integers = {}, floats = {}, domain = '' }: NodeOptions,
  ): void {
    const node = join([
      ...inputs.map((input) => bytesField(1, input)),
      ...outputs.map((output) => bytesField(2, output)),
      bytesField(3, outputs[0]!),
      bytesField(4, operator),
      ...Object.entries(integers).map(([name, value]) =>
        bytesField(5, attribute(name, attributeTypes.integer, numberField(3, value))),
      ),
      ...Object.entries(floats).map(([name, value]) =>
        bytesField(5, attribute(name, attributeTypes.float, floatField(2, value))),
      ),
      bytesField(7, domain),
    ])
    this.#fields.push(bytesField(graphFields.node, node))
  }

  #nextValue(operator: string): ValueName {
    return `${operator}.${this.#values++}`
  }
}

/** Version of the ONNX format that these fields belong to. */
const irVersion = 8

const graphFields = { node: 1, name: 2, initializer: 5, input: 11, output: 12 } as const

const attributeTypes = { float: 1, integer: 2 } as const

/** Value EXTERNAL of TensorProto.DataLocation. */
const externalLocation = 1

function valueInfo(
  name: string,
  type: TensorType,
  shape: readonly (number | string)[],
): Uint8Array {
  const dimensions = shape.map((length) =>
    bytesField(
      1,
      typeof length === 'number' ? numberField(1, length) : bytesField(2, length),
    ),
  )
  const tensorType = join([
    numberField(1, elementTypes[type]),
    bytesField(2, join(dimensions)),
  ])
  return join([bytesField(1, name), bytesField(2, bytesField(1, tensorType))])
}

function attribute(name: string, type: number, value: Uint8Array): Uint8Array {
  return join([bytesField(1, name), value, numberField(20, type)])
}

function entry(key: string, value: string): Uint8Array {
  return join([bytesField(1, key), bytesField(2, value)])
}
