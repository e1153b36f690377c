/** Flags and environment variables for providers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { serveOptions } from '../../src/settings/serve-options.ts'

function parse(flag: string, text: string): unknown {
  const option = serveOptions().find((candidate) => candidate.name() === flag)!
  const read = option.parseArg as (text: string, before: unknown) => unknown
  return read(text, undefined)
}

describe('settings of providers', () => {
  test('are lists of names with values', () => {
    assert.deepEqual(
      parse('embedding-urls', 'openai=http://a:1/v1, ollama=https://b/?x={y}=z'),
      new Map([
        ['openai', 'http://a:1/v1'],
        ['ollama', 'https://b/?x={y}=z'],
      ]),
    )
    assert.deepEqual(
      parse(
        'embedding-urls',
        'azureOpenAI=https://{resourceName}.example.com/{deploymentId}',
      ),
      new Map([['azureOpenAI', 'https://{resourceName}.example.com/{deploymentId}']]),
    )
    assert.deepEqual(
      parse('embedding-keys', 'openai=sk-1==,openai.team=sk-2,bedrock=id:secret'),
      new Map([
        ['openai', 'sk-1=='],
        ['openai.team', 'sk-2'],
        ['bedrock', 'id:secret'],
      ]),
    )
    assert.deepEqual(
      parse('reranking-urls', 'nvidia=http://a'),
      new Map([['nvidia', 'http://a']]),
    )
    assert.deepEqual(parse('reranking-keys', 'cohere=k'), new Map([['cohere', 'k']]))
  })

  for (const [flag, text, named] of [
    ['embedding-urls', 'opnai=http://a', 'opnai'],
    ['embedding-urls', 'openai', 'name=value'],
    ['embedding-urls', 'openai=', 'name=value'],
    ['embedding-urls', '=http://a', 'name=value'],
    ['embedding-urls', 'openai=ftp://a', 'ftp://a'],
    ['embedding-urls', 'openai=a', '"a"'],
    ['embedding-urls', 'openai=http://user:password@a', 'user'],
    ['embedding-keys', 'openai=a b', 'openai'],
    ['embedding-keys', 'opnai.team=k', 'opnai'],
    ['embedding-keys', 'bedrock=id', 'bedrock'],
    ['reranking-urls', 'openai=http://a', 'openai'],
    ['reranking-keys', 'acme=k', 'acme'],
  ] as const)
    test(`reject --${flag} ${text}`, () => {
      assert.throws(
        () => parse(flag, text),
        (error) => error instanceof InvalidArgumentError && error.message.includes(named),
      )
    })
})
