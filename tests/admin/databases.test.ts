import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { AdminServer, type WireDatabase } from './admin-server.ts'

const list = (admin: AdminServer, query = '') =>
  admin.ask<WireDatabase[]>('GET', `/databases${query}`)

describe('a database', () => {
  const admin = new AdminServer({ databasesMax: 3 })
  const absent = '00000000-0000-4000-8000-000000000000'

  test('is created at the first start', async () => {
    const [home, ...others] = await list(admin)
    assert.deepEqual(others, [])
    const { id, creationTime, orgId } = home!
    assert.deepEqual(home, {
      id,
      orgId: await admin.organization(),
      ownerId: orgId,
      status: 'ACTIVE',
      creationTime,
      lastUsageTime: creationTime,
      info: {
        name: 'stela',
        keyspace: 'default_keyspace',
        keyspaces: ['default_keyspace'],
        dbType: 'vector',
        datacenters: [
          {
            id: `${id}-1`,
            name: 'dc-1',
            status: 'ACTIVE',
            dateCreated: creationTime,
            regionZone: 'na',
            regionClassification: 'standard',
            cloudProvider: 'AWS',
            region: 'local',
            tier: 'serverless',
            capacityUnits: 1,
          },
        ],
        cloudProvider: 'AWS',
        region: 'local',
        tier: 'serverless',
        capacityUnits: 1,
      },
      availableActions: ['addKeyspace', 'removeKeyspace'],
      dataEndpointUrl: admin.server.url,
    })
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.deepEqual(await admin.ask('GET', `/databases/${id}`), home)
    assert.deepEqual(await admin.ask('GET', `/databases/${id.toUpperCase()}`), home)
    assert.deepEqual(
      await admin.ask('GET', `/databases/${id}/datacenters`),
      home.info.datacenters,
    )
  })

  test('cannot be terminated when it is the home database', async () => {
    const [home] = await list(admin)
    const path = `/databases/${home!.id}/terminate`
    assert.match(await admin.refuse(409, 'POST', path), /is the home database/)
    assert.equal((await admin.command('', { findKeyspaces: {} })).http, 200)
  })

  test('is created, used, and terminated permanently', async () => {
    const answer = await admin.call('POST', '/databases', {
      body: {
        name: 'shop',
        cloudProvider: 'gcp',
        region: 'us-east1',
        tier: 'serverless',
        capacityUnits: 1,
        dbType: 'vector',
        keyspace: 'first',
      },
    })
    assert.equal(answer.http, 201)
    const id = answer.headers.get('location')!
    const made = await admin.ask<WireDatabase>('GET', `/databases/${id}`)
    assert.deepEqual(answer.body, made)
    assert.equal(made.id, id)
    assert.equal(made.status, 'ACTIVE')
    assert.equal(made.info.name, 'shop')
    assert.equal(made.info.cloudProvider, 'GCP')
    assert.equal(made.info.region, 'us-east1')
    assert.equal(made.info.datacenters[0]!['region'], 'us-east1')
    assert.deepEqual(made.info.keyspaces, ['first'])
    assert.equal(made.dataEndpointUrl, `${admin.server.url}/databases/${id}`)
    assert.deepEqual(made.availableActions, ['addKeyspace', 'removeKeyspace', 'terminate'])

    const used = await admin.commandTo(id, '/first', { createCollection: { name: 'c' } })
    assert.deepEqual(used.body.status, { ok: 1 })

    const ended = await admin.call('POST', `/databases/${id}/terminate`, { body: '' })
    assert.deepEqual([ended.http, ended.text], [202, ''])
    const after = await admin.ask<WireDatabase>('GET', `/databases/${id}`)
    assert.equal(after.status, 'TERMINATED')
    assert.deepEqual(after.info.keyspaces, [])
    assert.equal(after.dataEndpointUrl, undefined)
    assert(after.terminationTime! >= after.creationTime)
    assert.match(
      await admin.refuse(409, 'POST', `/databases/${id}/terminate`),
      /already terminated/,
    )
    const gone = await admin.commandTo(id, '/first', { findCollections: {} })
    assert.equal(gone.http, 404)
    assert.deepEqual(gone.codes, ['UNKNOWN_DATABASE'])
  })

  test('has defaults for every field except its name', async () => {
    const made = await admin.ask<WireDatabase>('POST', '/databases', {
      body: { name: 'plain' },
    })
    const { info } = made
    assert.deepEqual(
      [info.keyspaces, info.cloudProvider, info.region, info.dbType],
      [['default_keyspace'], 'AWS', 'local', 'vector'],
    )
    await admin.ask('POST', `/databases/${made.id}/terminate`)
  })

  for (const [fields, status, message] of [
    [{}, 400, /name/],
    [{ name: '' }, 400, /name/],
    [{ name: ' ' }, 400, /name/],
    [{ name: 7 }, 400, /name/],
    [{ name: 'x'.repeat(101) }, 400, /1 to 100/],
    [{ name: 'x', cloudProvider: 'ORACLE' }, 400, /AWS, GCP or AZURE/],
    [{ name: 'x', cloudProvider: 3 }, 400, /AWS, GCP or AZURE/],
    [{ name: 'x', region: 'no.dots' }, 400, /region/],
    [{ name: 'x', region: 'x'.repeat(51) }, 400, /region/],
    [{ name: 'x', region: {} }, 400, /region/],
    [{ name: 'x', keyspace: 'a.b' }, 400, /keyspace/],
    [{ name: 'x', keyspace: 'x'.repeat(49) }, 400, /1 to 48/],
    [{ name: 'x', keyspace: 4 }, 400, /keyspace/],
    [{ name: 'x', dbType: 'graph' }, 422, /vector/],
    [{ name: 'x', pcuGroupUUID: 'a' }, 422, /pcuGroupUUID/],
  ] as const)
    test(`cannot be created with ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const before = (await list(admin, '?include=all')).length
      const body = fields
      assert.match(await admin.refuse(status, 'POST', '/databases', { body }), message)
      assert.equal((await list(admin, '?include=all')).length, before)
    })

  test('can have names of the maximum length', async () => {
    const name = 'ü'.repeat(100)
    const keyspace = 'k'.repeat(48)
    const { id, info } = await admin.createDatabase({ name, keyspace })
    assert.equal(info.name, name)
    assert.deepEqual(info.keyspaces, [keyspace])
    await admin.ask('POST', `/databases/${id}/terminate`)
  })

  test('is rejected when the maximum number of databases exists', async () => {
    const made = [await admin.createDatabase(), await admin.createDatabase()]
    const body = { name: 'one too many' }
    assert.match(await admin.refuse(422, 'POST', '/databases', { body }), /the maximum/)
    await admin.ask('POST', `/databases/${made[0]!.id}/terminate`)
    made.push(await admin.createDatabase(body))
    for (const { id } of made.slice(1))
      await admin.ask('POST', `/databases/${id}/terminate`)
  })

  test('is reported with status 404 when its id is unknown', async () => {
    for (const id of [
      absent,
      'none',
      'default_keyspace',
      '%00',
      '..%2f..',
      'x'.repeat(500),
    ]) {
      await admin.refuse(404, 'GET', `/databases/${id}`)
      await admin.refuse(404, 'POST', `/databases/${id}/terminate`)
      await admin.refuse(404, 'GET', `/databases/${id}/datacenters`)
    }
  })

  test('is created twice when two equal requests arrive at the same time', async () => {
    const [one, two] = await Promise.all([
      admin.createDatabase({ name: 'twin' }),
      admin.createDatabase({ name: 'twin' }),
    ])
    assert.notEqual(one.id, two.id)
    const ends = await Promise.all(
      [one, one, two].map(({ id }) => admin.call('POST', `/databases/${id}/terminate`)),
    )
    assert.deepEqual(ends.map(({ http }) => http).toSorted(), [202, 202, 409])
  })
})

describe('the list of databases', () => {
  const admin = new AdminServer()
  const namesIn = async (query: string) =>
    (await list(admin, query)).map(({ info }) => info.name)

  test('omits terminated databases unless they are requested', async () => {
    const { id } = await admin.createDatabase({ name: 'ended' })
    await admin.createDatabase({ name: 'azure', cloudProvider: 'Azure' })
    await admin.createDatabase({ name: 'gcp', cloudProvider: 'GCP' })
    await admin.ask('POST', `/databases/${id}/terminate`)
    const all = ['stela', 'ended', 'azure', 'gcp']
    const alive = ['stela', 'azure', 'gcp']
    for (const query of ['', '?include=nonterminated', '?include=NONTERMINATED'])
      assert.deepEqual(await namesIn(query), alive)
    assert.deepEqual(await namesIn('?include=non_terminated'), alive)
    assert.deepEqual(await namesIn('?include=active'), alive)
    assert.deepEqual(await namesIn('?include=ALL'), all)
    assert.deepEqual(await namesIn('?include=Terminated'), ['ended'])
    assert.deepEqual(await namesIn('?include=PARKED'), [])
  })

  test('can be filtered by provider', async () => {
    assert.deepEqual(await namesIn('?provider=ALL'), ['stela', 'azure', 'gcp'])
    assert.deepEqual(await namesIn('?provider=azure'), ['azure'])
    assert.deepEqual(await namesIn('?provider=GCP&include=all'), ['gcp'])
    assert.deepEqual(await namesIn('?provider=AWS&include=all'), ['stela', 'ended'])
  })

  test('is complete when a client follows all its pages', async () => {
    const all = await list(admin, '?include=all')
    for (const limit of [1, 2, 3, 4, 100]) {
      const seen: string[] = []
      let after = ''
      // Reads at most one page more than needed, so an endless list fails instead of hanging.
      for (let pages = 0; pages <= all.length + 1; pages++) {
        const page = await list(admin, `?include=all&limit=${limit}${after}`)
        seen.push(...page.map(({ id }) => id))
        if (page.length < limit) break
        after = `&starting_after=${page.at(-1)!.id}`
      }
      assert.deepEqual(
        seen,
        all.map(({ id }) => id),
      )
    }
    const ended = all[1]!.id
    const rest = await list(admin, `?starting_after=${ended}`)
    assert.deepEqual(
      rest.map(({ info }) => info.name),
      ['azure', 'gcp'],
      'a page goes on behind one that was terminated since',
    )
    assert.deepEqual(await list(admin, `?starting_after=${all.at(-1)!.id}`), [])
  })

  test('has 25 databases per page by default and 100 at most', async () => {
    const { databasesPageSize, databasesPageMax } = defaultLimits
    assert.deepEqual([databasesPageSize, databasesPageMax], [25, 100])
    for (let i = 0; i < 24; i++) await admin.createDatabase({ name: `n${i}` })
    assert.equal((await list(admin)).length, 25)
    assert.equal((await list(admin, '?limit=26')).length, 26)
    assert.equal((await list(admin, '?limit=100')).length, 27)
  })

  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=ten',
    'limit=',
    'limit=1&limit=2',
    'include=some',
    'include=all&include=all',
    'provider=ORACLE',
    'provider=',
    'starting_after=none',
    'starting_after=00000000-0000-4000-8000-000000000000',
  ])
    test(`is rejected for the query string ${query}`, async () => {
      const [name] = query.split('=', 1)
      const message = await admin.refuse(400, 'GET', `/databases?${query}`)
      assert(message.startsWith(name!), message)
    })
})

describe('keyspaces', () => {
  const admin = new AdminServer()
  const keyspacesOf = async (id: string) =>
    (await admin.ask<WireDatabase>('GET', `/databases/${id}`)).info.keyspaces

  test('are added and dropped in the home database and in other databases', async () => {
    const [home] = await list(admin)
    const other = await admin.createDatabase()
    for (const { id } of [home!, other]) {
      const path = `/databases/${id}/keyspaces/extra`
      for (const attempt of ['first', 'again'])
        assert.equal((await admin.call('POST', path)).http, 201, attempt)
      assert.deepEqual(await keyspacesOf(id), ['default_keyspace', 'extra'])
      const command = { findKeyspaces: {} }
      const { body } = await admin.commandTo(id, '', command)
      assert.deepEqual(body.status, { keyspaces: ['default_keyspace', 'extra'] })
      assert.equal((await admin.call('DELETE', path)).http, 202)
      assert.deepEqual(await keyspacesOf(id), ['default_keyspace'])
      assert.equal((await admin.call('DELETE', path)).http, 204)
    }
  })

  test('are the same in the Data API and the management API', async () => {
    const { id } = await admin.createDatabase({ keyspace: 'only' })
    await admin.commandTo(id, '', { createKeyspace: { name: 'made' } })
    assert.deepEqual(await keyspacesOf(id), ['made', 'only'])
    await admin.ask('DELETE', `/databases/${id}/keyspaces/only`)
    const { info } = await admin.ask<WireDatabase>('GET', `/databases/${id}`)
    assert.equal(info.keyspace, 'made', 'one that is there stands for one that is not')
    await admin.ask('DELETE', `/databases/${id}/keyspaces/made`)
    assert.deepEqual(await keyspacesOf(id), [])
  })

  test('must have valid names', async () => {
    const { id } = await admin.createDatabase()
    const path = (name: string) => `/databases/${id}/keyspaces/${name}`
    for (const name of ['a.b', 'a%2Fb', 'a-b', 'ü', '%20', 'x'.repeat(49)]) {
      assert.match(await admin.refuse(400, 'POST', path(name)), /letters, digits/)
      assert.equal((await admin.call('DELETE', path(name))).http, 204)
    }
    assert.equal((await admin.call('POST', path('x'.repeat(48)))).http, 201)
  })

  test('cannot be added to or dropped from a terminated or unknown database', async () => {
    const { id } = await admin.createDatabase()
    await admin.ask('POST', `/databases/${id}/terminate`)
    for (const method of ['POST', 'DELETE']) {
      await admin.refuse(409, method, `/databases/${id}/keyspaces/k`)
      await admin.refuse(404, method, '/databases/none/keyspaces/k')
    }
  })
})

test.describe('the configured public URL', () => {
  const admin = new AdminServer({ publicUrl: 'https://data.example.com/stela' })

  test('is the base of the endpoint of every database', async () => {
    const { id, dataEndpointUrl } = await admin.createDatabase()
    assert.equal(dataEndpointUrl, `https://data.example.com/stela/databases/${id}`)
    const [home] = await list(admin)
    assert.equal(home!.dataEndpointUrl, 'https://data.example.com/stela')
  })
})
