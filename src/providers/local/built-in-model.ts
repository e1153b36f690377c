/** The model all-MiniLM-L6-v2. Its package contains only weights, so the graph is built here. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bertGraph, type BertShape, type Precision } from './bert-graph.ts'
import { modelFiles } from './packages.ts'
import { readSafetensors } from './safetensors.ts'
import type { ModelSource } from './token-model.ts'

export async function builtInModel(precision: Precision): Promise<ModelSource> {
  const { weightsPath, tokenizerPath, configPath } = await modelFiles()
  const [tokenizer, shape, tensors] = await Promise.all([
    readJson<object>(tokenizerPath),
    readJson<BertShape>(configPath),
    readSafetensors(weightsPath),
  ])
  return {
    graph: bertGraph(shape, { path: weightsPath, tensors }, precision),
    weightsFolder: dirname(weightsPath),
    outputs: [],
    tokenizer,
    tokenizerConfig: {},
    tokensMax: 256,
    pooling: 'mean',
    runsAlone: precision === 'int8',
  }
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T
}
