/** Code for astrapy 2. */
import { isDouble } from '../json/numerals.ts'
import { readWholeTree, type JsonNode } from '../json/json-tree.ts'
import { escapeChar, jsonLiterals, printTree, type Literals } from '../json/print-tree.ts'
import {
  clientCall,
  hasLoneSurrogate,
  walkMembers,
  walkTree,
  type ClientCall,
} from './client-calls.ts'
import { commandUrl, type CodeRequest } from './code-request.ts'

export function writePython(request: CodeRequest): string {
  const body = readWholeTree(request.body)
  const hasDecimals = [...walkTree(body)].some(
    (node) => node.kind === 'number' && needsDecimal(node.text),
  )
  const call = clientCall(request, body)
  if (hasTwins(body))
    return writeRequest(request, body, 'a dictionary cannot contain a name twice')
  if (hasLoneSurrogate(body))
    return writeRequest(request, body, 'it contains half of a surrogate pair')
  if (hasDecimals && (request.target === undefined || call === undefined))
    return writeRequest(request, body, 'a float would lose digits')
  const { kind, target } = request
  const decimals = hasDecimals && kind === 'collection'
  const { origin, path } = splitUrl(request.url)
  const options = [
    ...(path === '' && !decimals ? [] : ['APIOptions']),
    ...(path === '' ? [] : ['DataAPIURLOptions']),
    ...(decimals ? ['SerdesOptions'] : []),
  ]
  const lines = ['import os']
  if (hasDecimals) lines.push('from decimal import Decimal')
  lines.push('', 'from astrapy import DataAPIClient')
  if (options.length > 0)
    lines.push(`from astrapy.api_options import ${options.join(', ')}`)
  lines.push('from astrapy.constants import Environment', '')
  lines.push(
    path === ''
      ? 'client = DataAPIClient(environment=Environment.HCD)'
      : `client = DataAPIClient(
    environment=Environment.HCD,
    api_options=APIOptions(
        data_api_url_options=DataAPIURLOptions(api_path=${quote(path)}),
    ),
)`,
  )
  lines.push('database = client.get_database(')
  lines.push(`    ${quote(origin)},`)
  lines.push('    token=os.environ["STELA_TOKEN"],')
  if (request.keyspace !== undefined) lines.push(`    keyspace=${quote(request.keyspace)},`)
  lines.push(')')
  if (call !== undefined) {
    lines.push(
      decimals
        ? `${kind} = database.get_${kind}(
    ${quote(target!)},
    spawn_api_options=APIOptions(
        serdes_options=SerdesOptions(use_decimals_in_collections=True),
    ),
)`
        : `${kind} = database.get_${kind}(${quote(target!)})`,
    )
    lines.push('', ...writeCall(call, kind))
  } else lines.push('', ...writeCommand(request, body))
  return `${lines.join('\n')}\n`
}

/** Splits a URL into origin and path, because the client takes the path as a separate option. */
function splitUrl(url: string): { readonly origin: string; readonly path: string } {
  const { origin, pathname } = new URL(url)
  return { origin, path: pathname.replace(/\/+$/, '') }
}

function writeCall({ method, positional, named }: ClientCall, kind: string): string[] {
  const args = positional.map(({ value }) => print(value, '    '))
  for (const { name, value } of named)
    args.push(`${snakeCase(name)}=${print(value, '    ')}`)
  if (method.name === 'countDocuments') args.push('upper_bound=1000')
  const inner = args.map((arg) => `    ${arg},\n`).join('')
  const text = `${kind}.${snakeCase(method.name)}(${inner === '' ? '' : `\n${inner}`})`
  if (method.gives === 'documents')
    return [
      `for ${kind === 'table' ? 'row' : 'document'} in ${text}:`,
      `    print(${kind === 'table' ? 'row' : 'document'})`,
    ]
  if (method.gives === 'ranked')
    return [`for result in ${text}:`, '    print(result.document, result.scores)']
  return [`print(${text})`]
}

function writeCommand(request: CodeRequest, body: JsonNode): string[] {
  const { command, keyspace, target } = request
  const lines = [
    'result = database.command(',
    `    {${quote(command)}: ${print(body, '    ')}},`,
  ]
  if (keyspace === undefined) lines.push('    keyspace=None,')
  if (target !== undefined) lines.push(`    collection_or_table_name=${quote(target)},`)
  return [...lines, ')', 'print(result)']
}

/** Code of an HTTP request without the client, for values that the client cannot send. */
function writeRequest(request: CodeRequest, body: JsonNode, why: string): string {
  const text = `{${asciiJson.key(request.command)}: ${printTree(body, asciiJson, {
    indent: '',
    step: '  ',
    width: 88,
  })}}`
  return `# The command is sent as text: ${why}.
import os
from urllib.request import Request, urlopen

command = rb"""${text}
"""
request = Request(
    ${quote(commandUrl(request))},
    command,
    {"Token": os.environ["STELA_TOKEN"], "Content-Type": "application/json"},
)
with urlopen(request) as response:
    print(response.read().decode())
`
}

/**
 * JSON for a string in triple quotes. Quotes inside strings are written as \u0022, so at most two
 * quotes are adjacent, as in "a": "".
 */
const asciiJson: Literals = { ...jsonLiterals, string: quoteAscii, key: quoteAscii }

function quoteAscii(value: string): string {
  return jsonLiterals
    .string(value)
    .replaceAll(/[^\x20-\x7e]/g, escapeChar)
    .replaceAll('\\"', '\\u0022')
}

function hasTwins(body: JsonNode): boolean {
  for (const members of walkMembers(body))
    if (new Set(members.map(({ key }) => key)).size !== members.length) return true
  return false
}

/**
 * Whether a number needs Decimal, because a float would lose digits. Python reads integers exactly.
 */
function needsDecimal(numeral: string): boolean {
  return !/^-?\d+$/.test(numeral) && !isDouble(numeral)
}

function print(node: JsonNode, indent: string): string {
  return printTree(node, literals, { indent, step: '    ', width: 88 })
}

const literals: Literals = {
  string: quote,
  number: (numeral) => (needsDecimal(numeral) ? `Decimal("${numeral}")` : numeral),
  word: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
  key: quote,
  pad: '',
  trailingComma: true,
}

/** A Python string literal. Python and JSON have the same escapes. */
function quote(value: string): string {
  return jsonLiterals.string(value)
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
