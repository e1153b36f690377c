/**
 * Code for astra-db-java 2, as a complete class. Literals are ASCII, because compilers of
 * Java 17 guess the encoding.
 */
import { isDouble } from '../json/numerals.ts'
import { readWholeTree, type JsonNode, type Member } from '../json/json-tree.ts'
import { escapeChar, jsonLiterals, printTree, type Literals } from '../json/print-tree.ts'
import { clientCall, walkMembers, walkTree, type ClientCall } from './client-calls.ts'
import { commandUrl, type CodeRequest } from './code-request.ts'

export function writeJava(request: CodeRequest): string {
  const body = readWholeTree(request.body)
  const reason = whyTextIsNeeded(request, body)
  if (reason !== undefined) return writeRequest(request, body, reason)
  const call = request.kind === 'collection' ? clientCall(request, body) : undefined
  const written = call && writeCall(call)
  const { imports, lines } = written ?? writeCommand(request, body)
  const target =
    request.kind === 'table' ? 'Table<Row> table' : 'Collection<Document> collection'
  const setup = [
    'DataAPIClient client = new DataAPIClient(',
    '    System.getenv("STELA_TOKEN"),',
    '    new DataAPIClientOptions().destination(DataAPIDestination.HCD));',
    `Database database = client.getDatabase(${quote(request.url)}, ${quote(request.keyspace!)});`,
    ...(request.target === undefined
      ? []
      : [
          `${target} = database.${request.kind === 'table' ? 'getTable' : 'getCollection'}(${quote(request.target)});`,
        ]),
  ]
  const all = new Set([
    'DataAPIClient',
    'DataAPIDestination',
    'core.options.DataAPIClientOptions',
    'databases.Database',
    ...(request.target === undefined
      ? []
      : request.kind === 'table'
        ? ['tables.Table', 'tables.definition.rows.Row']
        : ['collections.Collection', 'collections.definition.documents.Document']),
    ...imports,
  ])
  return writeClass(
    [...all]
      .toSorted()
      .map((name) =>
        /^(?:java|com)\./.test(name) ? name : `com.datastax.astra.client.${name}`,
      ),
    [...setup, '', ...lines],
    '',
  )
}

/**
 * The reason why the client cannot send the command; undefined when it can. The client drops nulls,
 * and reads numbers with a fraction as doubles.
 */
function whyTextIsNeeded(request: CodeRequest, body: JsonNode): string | undefined {
  for (const node of walkTree(body)) {
    if (node.kind === 'word' && node.value === null) return 'the client omits nulls'
    if (node.kind === 'number' && !/^-?\d+$/.test(node.text) && !isDouble(node.text))
      return 'a double would lose digits'
  }
  for (const members of walkMembers(body))
    if (new Set(members.map(({ key }) => key)).size !== members.length)
      return 'a map cannot contain a name twice'
  return request.keyspace === undefined ? 'the client requires a keyspace' : undefined
}

interface Written {
  readonly imports: readonly string[]
  readonly lines: readonly string[]
}

const documentClass = 'collections.definition.documents.Document'

/**
 * Code of the call; undefined when the client has no builder for its sort or projection.
 */
function writeCall({ method, positional, named }: ClientCall): Written | undefined {
  const imports = [documentClass]
  const lines: string[] = []
  const args: string[] = []
  for (const { name, value } of positional) {
    const parsed = `Document.parse(${textBlock(value, '  ')})`
    if (name === 'filter') {
      imports.push('core.query.Filter')
      const isAll = value.kind === 'object' && value.members.length === 0
      lines.push(
        `Filter filter = ${isAll ? 'new Filter()' : `new Filter(${parsed}.getDocumentMap())`};`,
      )
    } else if (name === 'update') {
      imports.push('collections.commands.Update')
      lines.push(`Update update = new Update(${parsed}.getDocumentMap());`)
    } else if (name === 'documents' && value.kind === 'array') {
      imports.push('java.util.List')
      const each = value.elements.map(
        (element) => `\n    Document.parse(${textBlock(element, '      ')})`,
      )
      lines.push(`List<Document> documents = List.of(${each.join(',')});`)
    } else lines.push(`Document ${name} = ${parsed};`)
    args.push(name)
  }
  if (method.name === 'countDocuments') args.push('1000')
  if (named.length > 0) {
    const options = `Collection${capital(method.name)}Options`
    const setters = named.map(({ name, value }) => writeOption(name, value))
    if (setters.some((setter) => setter === undefined)) return undefined
    imports.push(`collections.commands.options.${options}`)
    if (named.some(({ name }) => name === 'sort')) imports.push('core.query.Sort')
    if (named.some(({ name }) => name === 'projection'))
      imports.push('core.query.Projection')
    if (named.some(({ name }) => name === 'returnDocument'))
      imports.push('collections.commands.ReturnDocument')
    lines.push(`${options} options = new ${options}()`)
    lines.push(`${setters.map((setter) => `    .${setter!}`).join('\n    ')};`)
    args.push('options')
  }
  const text = `collection.${method.name}(${args.join(', ')})`
  switch (method.gives) {
    case 'documents':
      lines.push(
        `for (Document found : ${text}) {`,
        '  System.out.println(found.toJson());',
        '}',
      )
      break
    case 'ranked':
      imports.push('core.rerank.RerankedResult')
      lines.push(
        `for (RerankedResult<Document> found : ${text}) {`,
        '  System.out.println(found.getDocument().toJson() + " " + found.getScores());',
        '}',
      )
      break
    case 'document':
      lines.push(
        `System.out.println(${text}.map(Document::toJson).orElse("nothing found"));`,
      )
      break
    case 'count':
      lines.push(`System.out.println(${text});`)
      break
    case 'result':
      lines.push(`System.out.println(${writeResult(method.name, text)});`)
  }
  return { imports, lines }
}

function writeResult(method: string, call: string): string {
  if (method === 'insertOne') return `${call}.getInsertedId()`
  if (method === 'insertMany') return `${call}.getInsertedIds()`
  return `${call}.${method.startsWith('delete') ? 'getDeletedCount' : 'getModifiedCount'}()`
}

function writeOption(name: string, value: JsonNode): string | undefined {
  if (value.kind === 'object') {
    const write =
      name === 'sort' ? writeSort : name === 'projection' ? writeProjection : undefined
    const parts = write === undefined ? [undefined] : value.members.map(write)
    return parts.includes(undefined) ? undefined : `${name}(${parts.join(', ')})`
  }
  if (name === 'returnDocument' && value.kind === 'string')
    return `returnDocument(ReturnDocument.${value.value === 'after' ? 'AFTER' : 'BEFORE'})`
  if (value.kind === 'string') return `${name}(${quote(value.value)})`
  if (value.kind === 'word') return `${name}(${String(value.value)})`
  return value.kind === 'number' && /^\d{1,9}$/.test(value.text)
    ? `${name}(${value.text})`
    : undefined
}

function writeSort({ key, value }: Member): string | undefined {
  if (value?.kind === 'number' && ['1', '-1'].includes(value.text))
    return `Sort.${value.text === '1' ? 'ascending' : 'descending'}(${quote(key)})`
  if (value?.kind === 'string' && ['$vectorize', '$lexical', '$hybrid'].includes(key))
    return `Sort.${key.slice(1)}(${quote(value.value)})`
  if (key !== '$vector' || value?.kind !== 'array') return undefined
  const numbers = value.elements.map((element) =>
    element.kind === 'number' ? `${element.text}f` : undefined,
  )
  return numbers.includes(undefined)
    ? undefined
    : `Sort.vector(new float[] {${numbers.join(', ')}})`
}

function writeProjection({ key, value }: Member): string | undefined {
  if (value?.kind === 'word') return `new Projection(${quote(key)}, ${String(value.value)})`
  if (value?.kind === 'number')
    return `new Projection(${quote(key)}, ${String(Number(value.text) !== 0)})`
  if (value?.kind !== 'object' || value.members.length !== 1) return undefined
  const [slice] = value.members
  const isCount = (node: JsonNode | undefined) =>
    node?.kind === 'number' && /^-?\d{1,9}$/.test(node.text)
  if (slice!.key !== '$slice') return undefined
  if (slice!.value?.kind === 'number' && isCount(slice!.value))
    return `Projection.slice(${quote(key)}, ${slice!.value.text}, null)`
  if (slice!.value?.kind !== 'array' || slice!.value.elements.length !== 2) return undefined
  const counts = slice!.value.elements.flatMap((node) =>
    node.kind === 'number' && isCount(node) ? [node.text] : [],
  )
  return counts.length === 2
    ? `Projection.slice(${quote(key)}, ${counts.join(', ')})`
    : undefined
}

/** Code of any command, through the client's generic runCommand. */
function writeCommand(request: CodeRequest, body: JsonNode): Written {
  const runner = request.target === undefined ? 'database' : request.kind
  return {
    imports: [
      documentClass,
      'core.commands.Command',
      'com.datastax.astra.internal.api.DataAPIResponse',
    ],
    lines: [
      `Command command = new Command(${quote(request.command)}, Document.parse(${textBlock(body, '  ')}));`,
      `DataAPIResponse response = ${runner}.runCommand(command);`,
      'System.out.println(response.getSerializer().marshall(response));',
    ],
  }
}

/** Code of an HTTP request without the client, for values that the client cannot send. */
function writeRequest(request: CodeRequest, body: JsonNode, why: string): string {
  const member = { key: request.command, keyFrom: 0, keyTo: 0, from: 0, to: 0, value: body }
  const whole: JsonNode = { kind: 'object', from: 0, to: 0, members: [member] }
  return writeClass(
    [
      'java.net.URI',
      'java.net.http.HttpClient',
      'java.net.http.HttpRequest',
      'java.net.http.HttpResponse',
    ],
    [
      `String command = ${textBlock(whole, '  ')};`,
      `HttpRequest request = HttpRequest.newBuilder(URI.create(${quote(commandUrl(request))}))`,
      '    .header("Token", System.getenv("STELA_TOKEN"))',
      '    .header("Content-Type", "application/json")',
      '    .POST(HttpRequest.BodyPublishers.ofString(command))',
      '    .build();',
      'System.out.println(',
      '    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());',
    ],
    `// The command is sent as text: ${why}.\n`,
    ' throws Exception',
  )
}

function writeClass(
  imports: readonly string[],
  lines: readonly string[],
  comment: string,
  throwsClause = '',
): string {
  // Indents only the first line of a literal, because its further lines are already indented.
  const inner = lines.map((line) => (line === '' ? '' : `    ${line}`)).join('\n')
  return `${comment}${imports.map((name) => `import ${name};\n`).join('')}
public class Example {
  public static void main(String[] args)${throwsClause} {
${inner}
  }
}
`
}

/** Maximum length of a string constant: a class file limits constants to 65 535 bytes. */
const constantLengthMax = 60_000

/** JSON as a Java text block, with line breaks after the opening and before the closing quotes. */
function textBlock(node: JsonNode, indent: string): string {
  const margin = `      ${indent}`
  const json = printTree(node, asciiJson, { indent: margin, step: '  ', width: 92 })
  const escaped = margin + json.replaceAll('\\', '\\\\')
  const pieces: string[] = []
  let piece = ''
  for (const line of escaped.split('\n').flatMap(cutLine)) {
    if (piece !== '' && piece.length + line.length > constantLengthMax) {
      pieces.push(piece)
      piece = ''
    }
    piece += `${line}\n`
  }
  const blocks = [...pieces, piece].map((text) => `"""\n${text}${margin}"""`)
  return blocks.length === 1 ? blocks[0]! : `String.join("", ${blocks.join(', ')})`
}

/**
 * Splits a line that exceeds the maximum length of a constant. Each part but the last ends in an
 * escaped line break.
 */
function cutLine(line: string): string[] {
  const cut: string[] = []
  let rest = line
  while (rest.length > constantLengthMax) {
    let at = constantLengthMax - 10
    // A split inside an escape would break the escape. A split before a space would lose the space,
    // because Java strips it as indentation.
    while (rest.charAt(at) === ' ' || /(?<!\\)(?:\\\\)*\\$/.test(rest.slice(0, at))) at--
    cut.push(`${rest.slice(0, at)}\\`)
    rest = rest.slice(at)
  }
  return [...cut, rest]
}

const asciiJson: Literals = { ...jsonLiterals, string: quoteAscii, key: quoteAscii }

function quoteAscii(value: string): string {
  return jsonLiterals.string(value).replaceAll(/[^\x20-\x7e]/g, escapeChar)
}

/**
 * A Java string literal. Control characters have octal escapes, because Java replaces \u escapes
 * before it searches for the end of a string.
 */
function quote(value: string): string {
  const inner = value.replaceAll(/[^\x20-\x7e]|["\\]/g, (char) => {
    const code = char.charCodeAt(0)
    if (char === '"' || char === '\\') return `\\${char}`
    return code < 0x20 ? `\\${code.toString(8).padStart(3, '0')}` : escapeChar(char)
  })
  return `"${inner}"`
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
