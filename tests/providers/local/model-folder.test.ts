import assert from 'node:assert/strict'
import { ownCaller } from '../../../src/caller/caller.ts'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { builtInModel } from '../../../src/providers/local/built-in-model.ts'
import {
  findLocalModels,
  localEmbedding,
  localReranker,
  nameLocalModels,
} from '../../../src/providers/local/local-models.ts'
import { elementTypes, OnnxGraph } from '../../../src/providers/local/onnx-graph.ts'
import { modelFiles, packagesAreInstalled } from '../../../src/providers/local/packages.ts'

const never = ownCaller()
const shape = ['texts', 'tokens']

/**
 * A model for reranking with predictable scores: the number of tokens of the passage minus that of
 * the query, including special tokens.
 */
function countingReranker(): Uint8Array {
  const graph = new OnnxGraph(new Map([['', 17]]))
  graph.input('input_ids', 'int64', shape)
  const mask = graph.input('attention_mask', 'int64', shape)
  const segments = graph.input('token_type_ids', 'int64', shape)
  const difference = graph.node('Sub', [graph.node('Add', [segments, segments]), mask])
  const sum = graph.node('ReduceSum', [
    graph.node('Cast', [difference], { integers: { to: elementTypes.float } }),
    graph.integers([1]),
  ])
  graph.output(graph.node('Identity', [sum], { output: 'logits' }), 'float', ['texts', 1])
  return graph.toModel('counting')
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

function open(folders: { embeddingFolder?: string; rerankerFolder?: string }) {
  return findLocalModels({ threads: 1, log: () => undefined, ...folders })!
}

describe(
  'a folder with a model',
  { skip: packagesAreInstalled() ? false : 'optional packages are absent' },
  () => {
    let root: string
    const folder = (name: string): string => join(root, name)

    before(async () => {
      root = await mkdtemp(join(tmpdir(), 'stela-models-'))
      const { tokenizerPath, configPath, weightsPath } = await modelFiles()
      for (const name of ['embedder', 'first-token', 'reranker', 'no-graph']) {
        await mkdir(folder(name))
        await copyFile(tokenizerPath, join(folder(name), 'tokenizer.json'))
        await copyFile(configPath, join(folder(name), 'config.json'))
      }
      // Exports the built-in model in ONNX format.
      const { graph } = await builtInModel('float')
      for (const name of ['embedder', 'first-token']) {
        await writeFile(join(folder(name), 'model.onnx'), graph)
        await copyFile(weightsPath, join(folder(name), basename(weightsPath)))
      }
      await mkdir(join(folder('first-token'), '1_Pooling'))
      await writeFile(
        join(folder('first-token'), '1_Pooling/config.json'),
        '{"pooling_mode_cls_token":true}',
      )
      await mkdir(join(folder('reranker'), 'onnx'))
      await writeFile(join(folder('reranker'), 'onnx/model.onnx'), countingReranker())
      await writeFile(
        join(folder('reranker'), 'sentence_bert_config.json'),
        '{"max_seq_length":12}',
      )
    })

    after(() => rm(root, { recursive: true }))

    test('embeds with that model', async () => {
      const texts = ['hello world', 'a longer text about rivers']
      const own = open({ embeddingFolder: folder('embedder') })
      const builtIn = open({})
      assert.deepEqual(await own.embed(texts, never), await builtIn.embed(texts, never))
      await own.close()
      await builtIn.close()
    })

    test('uses the vector of the first token when its configuration says so', async () => {
      const own = open({ embeddingFolder: folder('first-token') })
      const [vector, again] = await own.embed(['hello world', 'hello world'], never)
      await own.close()
      assert.deepEqual(vector, again)
      // The mean of all tokens would have -0.0345 as its first number.
      assert.ok(Math.abs(vector![0]! + 0.0345) > 0.01, String(vector![0]))
    })

    test('reranks with that model, which reads query and passage together', async () => {
      const own = open({ rerankerFolder: folder('reranker') })
      // The model adds three special tokens: one before the query, one after it, and one after the
      // passage.
      const scores = await own.rerank(
        'red',
        ['one', 'one two', 'one two three four'],
        never,
      )
      const expected = [1 + 1 - 3, 2 + 1 - 3, 4 + 1 - 3].map(sigmoid)
      for (const [i, score] of scores.entries())
        assert.ok(Math.abs(score - expected[i]!) < 1e-6, `${score} is not ${expected[i]}`)
      await own.close()
    })

    test('truncates input that is too long for the model', async () => {
      const own = open({ rerankerFolder: folder('reranker') })
      const [score] = await own.rerank('red', ['many '.repeat(5_000)], never)
      // The input is cut to twelve tokens, of which three belong to the query and nine to the
      // passage.
      assert.ok(Math.abs(score! - sigmoid(9 - 3)) < 1e-6, String(score))
      await own.close()
    })

    test('is rejected as a reranker if it returns vectors', async () => {
      const own = open({ rerankerFolder: folder('embedder') })
      await assert.rejects(
        own.rerank('red', ['one'], never),
        /"local" failed .* one number per passage/,
      )
      await own.close()
    })

    test('gives its name to the model', () => {
      assert.deepEqual(nameLocalModels({}), {
        embedding: localEmbedding,
        reranker: localReranker,
      })
      assert.deepEqual(
        nameLocalModels({
          embeddingFolder: folder('embedder'),
          rerankerFolder: `${folder('reranker')}/`,
        }),
        {
          embedding: { model: 'embedder', dimension: 384 },
          reranker: { model: 'reranker' },
        },
      )
    })

    test('is rejected when the model is missing, and the error names the expected files', () => {
      assert.throws(
        () => nameLocalModels({ embeddingFolder: folder('no-graph') }),
        /There is no model in .*no-graph: neither .*model\.onnx/,
      )
      assert.throws(
        () => nameLocalModels({ rerankerFolder: folder('absent') }),
        /There is no model in .*absent/,
      )
    })
  },
)
