/**
 * Reads the positions of the tensors in a safetensors file: eight bytes with the size of the
 * header, the header as JSON, then the numbers. Only the header is read.
 */
import { open } from 'node:fs/promises'

export interface Tensor {
  /** Such as 'F16', 'F32' or 'I64'. */
  readonly type: string
  readonly shape: readonly number[]
  /** Bytes from the start of the file. */
  readonly offset: number
  readonly size: number
}

export async function readSafetensors(path: string): Promise<ReadonlyMap<string, Tensor>> {
  const file = await open(path)
  try {
    const { buffer: sizeBytes } = await file.read(Buffer.alloc(8), 0, 8, 0)
    const headerSize = Number(sizeBytes.readBigUInt64LE())
    if (headerSize > headerSizeMax)
      throw new Error(`${path} is not a safetensors file: its header would be too large`)
    const { buffer: header } = await file.read(Buffer.alloc(headerSize), 0, headerSize, 8)
    const entries = JSON.parse(header.toString('utf8')) as Readonly<
      Record<string, TensorEntry>
    >
    return new Map(
      Object.entries(entries)
        .filter(([name]) => name !== '__metadata__')
        .map(([name, entry]) => [name, place(entry, 8 + headerSize)]),
    )
  } finally {
    await file.close()
  }
}

/** Maximum bytes of the header in this format. */
const headerSizeMax = 100_000_000

interface TensorEntry {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly data_offsets: readonly [number, number]
}

function place(
  { dtype, shape, data_offsets: [start, end] }: TensorEntry,
  base: number,
): Tensor {
  return { type: dtype, shape, offset: base + start, size: end - start }
}
