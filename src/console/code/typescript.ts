/** Code for astra-db-ts 2. The text is valid JavaScript as well. */
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

export function writeTypeScript(request: CodeRequest): string {
  const body = readWholeTree(request.body)
  const hasBigNumbers = [...walkTree(body)].some(
    (node) => node.kind === 'number' && !isDouble(node.text),
  )
  const call = clientCall(request, body)
  if (movesKeys(body))
    return writeFetch(
      request,
      body,
      'a JavaScript object would reorder names or drop duplicates',
    )
  if (hasLoneSurrogate(body))
    return writeFetch(request, body, 'it contains half of a surrogate pair')
  if (hasBigNumbers && call === undefined)
    return writeFetch(request, body, 'a JavaScript number would lose digits')
  const lines = [
    `import { ${hasBigNumbers ? 'BigNumber, ' : ''}DataAPIClient } from '@datastax/astra-db-ts'`,
    '',
    `const client = new DataAPIClient(process.env['STELA_TOKEN'], { environment: 'hcd' })`,
    request.keyspace === undefined
      ? `const db = client.db(${quote(request.url)})`
      : `const db = client.db(${quote(request.url)}, { keyspace: ${quote(request.keyspace)} })`,
  ]
  if (call === undefined) lines.push('', ...writeCommand(request, body))
  else {
    const { kind } = request
    const options =
      hasBigNumbers && kind === 'collection'
        ? `, {\n  serdes: { enableBigNumbers: { '*': 'number_or_string' } },\n}`
        : ''
    lines.push(`const ${kind} = db.${kind}(${quote(request.target!)}${options})`, '')
    lines.push(...writeCall(call, kind))
  }
  return `${[...lines, '', 'await client.close()'].join('\n')}\n`
}

function writeCall(call: ClientCall, kind: string): string[] {
  const { method, positional, named } = call
  const args = positional.map(({ value }) => print(value))
  if (method.name === 'countDocuments') args.push('1000')
  if (named.length > 0)
    args.push(
      `{\n${named.map(({ name, value }) => `  ${name}: ${print(value, '  ')},\n`).join('')}}`,
    )
  const text = `${kind}.${method.name}(${args.join(', ')})`
  if (method.gives === 'documents' || method.gives === 'ranked')
    return [
      `const found = ${text}`,
      `for await (const ${method.gives === 'ranked' ? 'result' : kind === 'table' ? 'row' : 'document'} of found)`,
      `  console.dir(${method.gives === 'ranked' ? 'result' : kind === 'table' ? 'row' : 'document'}, { depth: null })`,
    ]
  return [`const result = await ${text}`, 'console.dir(result, { depth: null })']
}

function writeCommand(request: CodeRequest, body: JsonNode): string[] {
  const { command, keyspace, target, kind } = request
  const place =
    target !== undefined
      ? `, { ${kind}: ${quote(target)} }`
      : keyspace === undefined
        ? ', { keyspace: null }'
        : ''
  return [
    `const result = await db.command({ ${writeKey(command)}: ${print(body)} }${place})`,
    'console.dir(result, { depth: null })',
  ]
}

/** Code of a fetch without the client, for values that the client cannot send. */
function writeFetch(request: CodeRequest, body: JsonNode, why: string): string {
  const layout = { indent: '  ', step: '  ', width: 90 }
  const text = `{ ${jsonLiterals.key(request.command)}: ${printTree(body, jsonLiterals, layout)} }`
  return `// The command is sent as text: ${why}.
const response = await fetch(${quote(commandUrl(request))}, {
  method: 'POST',
  headers: { Token: process.env['STELA_TOKEN'] ?? '', 'Content-Type': 'application/json' },
  body: String.raw\`${text.replaceAll(/[\`$]/g, escapeChar)}\`,
})
console.log(await response.text())
`
}

/**
 * Whether a JavaScript object would change the order of the keys or drop a duplicate key.
 * JavaScript objects list integer keys first.
 */
function movesKeys(body: JsonNode): boolean {
  for (const members of walkMembers(body)) {
    const keys = members.map(({ key }) => key)
    const plain = Object.create(null) as Record<string, true>
    for (const key of keys) plain[key] = true
    const kept = Object.keys(plain)
    if (kept.length !== keys.length || kept.some((key, position) => key !== keys[position]))
      return true
  }
  return false
}

function print(node: JsonNode, indent = ''): string {
  return printTree(node, literals, { indent, step: '  ', width: 88 })
}

const literals: Literals = {
  string: quote,
  number: (numeral) => (isDouble(numeral) ? numeral : `new BigNumber('${numeral}')`),
  word: String,
  key: writeKey,
  pad: ' ',
  trailingComma: true,
}

function writeKey(key: string): string {
  // In an object literal, a plain __proto__ key would set the prototype.
  if (key === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)
}

function quote(value: string): string {
  const inner = jsonLiterals.string(value).slice(1, -1)
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
