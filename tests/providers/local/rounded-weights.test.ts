import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { roundWeights } from '../../../src/providers/local/rounded-weights.ts'

test('weights are rounded to integers from -63 to 63, with a scale for each output', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stela-weights-'))
  try {
    const path = join(folder, 'weights')
    // The file contains one byte of padding, a matrix with three inputs and two outputs, and a
    // matrix with three inputs and one output.
    const first = new Float16Array([6.3, -3.2, 0, 0, 0, 0])
    const second = new Float16Array([-126, 63, 2])
    await writeFile(
      path,
      Buffer.concat([
        Buffer.from('?'),
        new Uint8Array(first.buffer),
        new Uint8Array(second.buffer),
      ]),
    )
    const { numbers, scales } = roundWeights(path, [
      { type: 'F16', shape: [2, 3], offset: 1, size: 12 },
      { type: 'F16', shape: [1, 3], offset: 13, size: 6 },
    ])
    assert.deepEqual([...numbers], [63, 0, -63, -32, 0, 32, 0, 0, 1])
    assert.ok(Math.abs(scales[0]! - 0.1) < 1e-4)
    assert.deepEqual([...scales.subarray(1)], [1, 2])
  } finally {
    await rm(folder, { recursive: true })
  }
})
