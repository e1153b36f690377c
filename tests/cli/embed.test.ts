/** `stela embed`, and `stela import --search-by`: from a file to a search. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { lettersCollection, LetterModels } from '../commands/letter-models.ts'
import { startServer, temporaryFolder, testToken, type TestServer } from '../harness.ts'
import { program, serverEnvironment } from '../server-environment.ts'
import { runStela, startStela, type Ran, type Running } from './run-stela.ts'

const keyspace = '/default_keyspace'

describe('documents that are searched by a text', { concurrency: 2 }, () => {
  let server: TestServer
  let models: LetterModels
  let folder: string
  before(async () => {
    models = await LetterModels.start()
    server = await startServer({ durable: false, providers: models.settings })
    folder = await temporaryFolder()
  })
  after(async () => {
    await server.close()
    models.close()
    await rm(folder, { recursive: true })
  })

  async function create(name: string, options: object): Promise<void> {
    await server.command(keyspace, { createCollection: { name, options } })
  }

  async function insert(name: string, documents: readonly object[]): Promise<void> {
    for (let at = 0; at < documents.length; at += 100) {
      const batch = documents.slice(at, at + 100)
      const { codes } = await server.command(`${keyspace}/${name}`, {
        insertMany: { documents: batch },
      })
      assert.deepEqual(codes, [])
    }
  }

  async function all(name: string): Promise<readonly unknown[]> {
    const find = { sort: { _id: 1 }, projection: { junk: 0, $vectorize: 1, $lexical: 1 } }
    const { body } = await server.command(`${keyspace}/${name}`, { find })
    assert(body.data !== undefined, JSON.stringify(body))
    return body.data.documents!
  }

  function embed(name: string, ...more: string[]): Promise<Ran> {
    return runStela(['embed', '--collection', name, '--url', server.url, ...more])
  }

  async function fileOf(name: string, content: string): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }

  test('stela import --search-by keeps the fields and adds the search fields of the collection', async () => {
    await create('films', lettersCollection)
    const path = await fileOf(
      'films.csv',
      '_id,title,plot\n1,Ab,a and b\n2,Only a title,\n3,,\n',
    )
    const args = ['import', path, '--collection', 'films', '--url', server.url]
    const { code, err } = await runStela([...args, '--search-by', '{{title}}. {{plot}}'])
    assert.equal(code, 0, err)
    assert.match(err, /imported 3 documents/)
    assert.match(err, /1 of the records have no text to search by/)
    assert.deepEqual(await all('films'), [
      { _id: 1, title: 'Ab', plot: 'a and b', ...both('Ab. a and b') },
      { _id: 2, title: 'Only a title', ...both('Only a title') },
      { _id: 3 },
    ])
  })

  function both(text: string) {
    return { $vectorize: text, $lexical: text }
  }

  test('stela import --create --search-by creates a collection with the built-in model', async () => {
    const own = await startServer({ durable: false })
    try {
      const path = await fileOf(
        'places.jsonl',
        '{"_id":1,"about":"A quiet room full of books"}\n{"_id":2,"about":"Fish from the boats"}\n',
      )
      const args = ['import', path, '--collection', 'places', '--url', own.url]
      const { code, err } = await runStela([...args, '--create', '--search-by', 'about'])
      assert.equal(code, 0, err)
      assert.match(err, /created places with the built-in model \S+/)
      const { body } = await own.command(`${keyspace}/places`, {
        find: { sort: { $vectorize: 'library' }, options: { limit: 1 } },
      })
      assert.equal(body.data!.documents![0]!['_id'], 1)
    } finally {
      await own.close()
    }
  })

  test('stela embed makes documents searchable, and reports what it did', async () => {
    await create('notes', lettersCollection)
    const documents = Array.from({ length: 45 }, (_, i) => ({ _id: i, text: `note ${i}` }))
    await insert('notes', [
      ...documents,
      { _id: 45 },
      { _id: 46, text: 'x', $vector: [1, 1] },
    ])
    const { code, err } = await embed(
      'notes',
      '--from',
      'text',
      '--filter',
      '{"_id":{"$gt":4}}',
    )
    assert.equal(code, 0, err)
    assert.match(err, /embedded 41 of 42 documents, 1 without a text, in /)
    const again = await embed('notes', '--from', 'text')
    assert.match(
      again.err,
      /embedded 5 of 47 documents, 41 searchable before, 1 without a text/,
    )
    const [first] = await all('notes')
    assert.deepEqual(first, { _id: 0, text: 'note 0', ...both('note 0') })
  })

  test('stela embed continues after it was killed, and stops at a signal', async () => {
    await create('long', lettersCollection)
    // The server counts up to 1 000 documents.
    const count = 900
    const documents = Array.from({ length: count }, (_, i) => ({
      _id: i,
      text: `text ${i}`,
    }))
    await insert('long', documents)
    const embedded = async () => {
      const { body } = await server.command(`${keyspace}/long`, {
        countDocuments: { filter: { $vector: { $exists: true } } },
      })
      return Number(body.status!['count'])
    }
    const args = ['embed', '--collection', 'long', '--url', server.url, '--from', 'text']
    const untilMore = async ({ child }: Running, least: number) => {
      while (child.exitCode === null && (await embedded()) < least) await pause(5)
    }
    const killed = startStela([...args, '--connections', '1'])
    await untilMore(killed, 20)
    killed.child.kill('SIGKILL')
    assert.equal((await killed.ended).code, null)
    const stopped = startStela([...args, '--connections', '1'])
    await untilMore(stopped, (await embedded()) + 20)
    stopped.child.kill('SIGTERM')
    const { code, err } = await stopped.ended
    assert.equal(code, 1)
    assert.match(err, /stopped\. \d+ documents were embedded\. Run the same command again/)
    const done = await embedded()
    assert(done >= 40 && done < count, String(done))
    const last = await embed('long', '--from', 'text')
    assert.equal(last.code, 0, last.err)
    assert(
      last.err.includes(
        `embedded ${count - done} of 900 documents, ${done} searchable before`,
      ),
      last.err,
    )
  })

  test('exits with 2 when documents fail, and names them', async () => {
    const analyzer = {
      tokenizer: { name: 'ngram', args: { minGramSize: '1', maxGramSize: '9' } },
    }
    await create('grams', { lexical: { enabled: true, analyzer } })
    await insert('grams', [
      { _id: 'short', t: 'ab' },
      { _id: 'long', t: 'word '.repeat(500) },
    ])
    const { code, err } = await embed('grams', '--from', 't')
    assert.equal(code, 2, err)
    assert.match(err, /document "long": LEXICAL_CONTENT_TOO_LONG: /)
    assert.match(err, /embedded 1 of 2 documents, 1 failed/)
  })

  test('stops at once with a token that may not write', async () => {
    await create('guarded', lettersCollection)
    await insert('guarded', [{ _id: 1, t: 'a' }])
    const admin = await startServer({
      durable: false,
      adminPort: 0,
      providers: models.settings,
    })
    try {
      await admin.command(keyspace, {
        createCollection: { name: 'c', options: lettersCollection },
      })
      await admin.command(`${keyspace}/c`, { insertOne: { document: { _id: 1, t: 'a' } } })
      const created = await runStela([
        ...['token', 'create', '--role', 'ro user', '--admin-url', admin.adminUrl],
      ])
      const token = /Stela:\S+/.exec(String(created.out) + created.err)?.[0]
      assert(token !== undefined, created.err)
      const args = ['embed', '--collection', 'c', '--from', 't', '--url', admin.url]
      const { code, err } = await runStela(args, { token })
      assert.equal(code, 1)
      assert.match(err, /This token may not .* write to .* 0 documents were embedded/)
    } finally {
      await admin.close()
    }
  })

  for (const [says, args] of [
    [/has no collection missing/, ['--collection', 'missing', '--from', 't']],
    [
      /neither an embedding model nor lexical search/,
      ['--collection', 'plain', '--from', 't'],
    ],
    [/--from is missing.*Fields with texts: t\./, ['--collection', 'texts']],
    [
      /none of the first 1 documents has a text in it.*Fields with texts: t\./,
      ['--collection', 'texts', '--from', 'x'],
    ],
    [/--from: .*no closing \}\}/, ['--collection', 'texts', '--from', '{{t']],
    [
      /--filter.* It is not valid JSON/,
      ['--collection', 'texts', '--from', 't', '--filter', '{'],
    ],
    [
      /--filter.* It must be a JSON object/,
      ['--collection', 'texts', '--from', 't', '--filter', '1'],
    ],
    [
      /FILTER_UNSUPPORTED_OPERATOR/,
      ['--collection', 'texts', '--from', 't', '--filter', '{"a":{"$x":1}}'],
    ],
  ] as const)
    test(`stela embed exits with 1 and reports ${says.source}`, async () => {
      await create('plain', { lexical: { enabled: false } })
      await create('texts', lettersCollection)
      await insert('texts', [{ t: 'one' }]).catch(() => undefined)
      await server.command(`${keyspace}/texts`, {
        deleteMany: { filter: { t: { $ne: 'one' } } },
      })
      const { code, err } = await runStela(['embed', '--url', server.url, ...args])
      assert.equal(code, 1)
      assert.match(err.replace(/\d+ documents has/, '1 documents has'), says)
      assert.equal(err.trim().split('\n').length, 1, err)
    })

  for (const [says, more, content = '{"t":"a"}'] of [
    [/none of the first 1 documents has a text in it/, ['--search-by', 'x']],
    [/--search-by: .*closing/, ['--search-by', '{{t']],
    [
      /neither an embedding model nor lexical/,
      ['--search-by', 't', '--collection', 'unsearched'],
    ],
    [/--search-by applies only to collections/, ['--search-by', 't', '--table', 'rows']],
  ] as const)
    test(`stela import sends nothing and reports ${says.source}`, async () => {
      await create('unsearched', { lexical: { enabled: false } })
      const definition = { columns: { id: 'int' }, primaryKey: 'id' }
      const options = { ifNotExists: true }
      await server.command(keyspace, { createTable: { name: 'rows', definition, options } })
      const path = await fileOf('wrong.jsonl', content)
      const target = more.some((word) => /^--(?:table|collection)$/.test(word))
        ? []
        : ['--collection', 'new', '--create']
      const { code, err } = await runStela([
        'import',
        path,
        '--url',
        server.url,
        ...target,
        ...more,
      ])
      assert.equal(code, 1)
      assert.match(err, says)
      const { body } = await server.command(keyspace, { findCollections: {} })
      assert(!(body.status!['collections'] as string[]).includes('new'))
    })

  test('on a terminal, stela import proposes the field to search', async () => {
    await create('asked', lettersCollection)
    const path = await fileOf('asked.csv', '_id,sku,about\n1,A-1,some words of a text\n')
    const args = ['import', path, '--collection', 'asked', '--url', server.url]
    const shown = await onTerminal(args, '\r')
    assert.match(shown, /Fields with texts: about, sku\./)
    assert.match(shown, /Search by the text of \[about\]: /)
    assert.deepEqual(await all('asked'), [
      {
        _id: 1,
        sku: 'A-1',
        about: 'some words of a text',
        ...both('some words of a text'),
      },
    ])
    await create('unasked', lettersCollection)
    const other = ['import', path, '--collection', 'unasked', '--url', server.url]
    await onTerminal(other, '-\r')
    assert.deepEqual(await all('unasked'), [
      { _id: 1, sku: 'A-1', about: 'some words of a text' },
    ])
  })

  /** Runs stela on a terminal that `script` makes, and types the answer after the question. */
  async function onTerminal(args: readonly string[], answer: string): Promise<string> {
    const words = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      program,
      ...args,
    ]
    const line = words.map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      env: { ...serverEnvironment, STELA_TOKEN: testToken, TERM: 'dumb' },
    })
    let shown = ''
    let isAnswered = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
      if (isAnswered || !shown.includes('Search by the text of')) return
      isAnswered = true
      child.stdin.write(answer)
    })
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 0, shown)
    return shown
  }
})
