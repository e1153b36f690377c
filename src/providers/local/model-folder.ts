/**
 * A model that the operator provides: a folder in the form in which models are published, with an
 * ONNX graph and tokenizer.json. It is checked when the server starts, and loaded on first use.
 */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { ModelSource } from './token-model.ts'

/** The folder's name. Throws if the folder contains no model. */
export function folderModelName(folder: string): string {
  graphPath(folder)
  readJson(folder, 'tokenizer.json')
  return basename(resolve(folder))
}

/** Dimension of the model's vectors. */
export function folderModelDimension(folder: string): number {
  const dimension = readJson(folder, 'config.json')['hidden_size']
  if (typeof dimension !== 'number')
    throw new Error(`${join(folder, 'config.json')} has no number hidden_size`)
  return dimension
}

export function folderModel(folder: string): ModelSource {
  return {
    graph: graphPath(folder),
    outputs: ['sentence_embedding', 'last_hidden_state', 'token_embeddings', 'logits'],
    tokenizer: readJson(folder, 'tokenizer.json'),
    tokenizerConfig: readJsonIfAny(folder, 'tokenizer_config.json'),
    tokensMax: tokensMaxOf(folder),
    // The file belongs to the sentence-transformers format. For models without it, the mean of the
    // token vectors is used.
    pooling:
      readJsonIfAny(folder, '1_Pooling/config.json')['pooling_mode_cls_token'] === true
        ? 'first'
        : 'mean',
    runsAlone: false,
  }
}

type Json = Readonly<Record<string, unknown>>

/** Maximum tokens of a text if a file of the model does not state it: the limit of most models. */
const tokensMaxDefault = 512

function tokensMaxOf(folder: string): number {
  const given = readJsonIfAny(folder, 'sentence_bert_config.json')['max_seq_length']
  const possible = readJsonIfAny(folder, 'config.json')['max_position_embeddings']
  return Math.min(
    typeof given === 'number' ? given : tokensMaxDefault,
    typeof possible === 'number' ? possible : tokensMaxDefault,
  )
}

function graphPath(folder: string): string {
  const paths = ['model.onnx', 'onnx/model.onnx'].map((name) => join(folder, name))
  const path = paths.find((path) => existsSync(path))
  if (path === undefined)
    throw new Error(`There is no model in ${folder}: neither ${paths.join(' nor ')} exists`)
  return path
}

function readJsonIfAny(folder: string, name: string): Json {
  return existsSync(join(folder, name)) ? readJson(folder, name) : {}
}

function readJson(folder: string, name: string): Json {
  const path = join(folder, name)
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json
  } catch (error) {
    throw new Error(`Cannot read ${path}: ${(error as Error).message}`, { cause: error })
  }
}
