/** The semantics of $lexical on every engine, with or without an index of terms. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Filter } from '../../../src/language/filters/filter.ts'
import { LexicalStore, match } from '../embedded/lexical/lexical-store.ts'
import { by, exists, where } from '../store.ts'
import { RunningEngine, type World } from './world.ts'

export function describeLexical(name: string, world: World): void {
  describe(`${name}: terms`, () => {
    const running = new RunningEngine(world)
    let made = 0
    const newStore = () => LexicalStore.create(running.engine, `lexical${made++}`)

    describe('searches by terms', () => {
      test('find records with every term, best first', async () => {
        const store = await newStore()
        await store.insert(
          [{ _id: 1 }, 'apple banana'],
          [{ _id: 2 }, 'apple apple banana'],
          [{ _id: 3 }, 'apple banana banana'],
          [{ _id: 4 }, 'apple apple banana banana'],
          [{ _id: 5 }, 'banana banana'],
          [{ _id: 6 }],
          [{ _id: 7 }, null],
          [{ _id: 8 }, ''],
        )
        assert.deepEqual(await store.search('apple banana'), [2, 4, 1, 3])
        assert.deepEqual(await store.search('apple banana', where('_id', 'gt', 2)), [4, 3])
        assert.deepEqual(await store.search('apple cherry'), [])
        assert.deepEqual(await store.search('cherry'), [])
      })

      test('find on request the records with some, but not all, of the terms', async () => {
        const store = await newStore()
        await store.insert(
          [{ _id: 1 }, 'apple banana'],
          [{ _id: 2 }, 'apple'],
          [{ _id: 3 }, 'banana banana'],
          [{ _id: 4 }, 'cherry'],
          [{ _id: 5 }],
          [{ _id: 6 }, ''],
        )
        assert.deepEqual(await store.searchSome('apple banana'), [3, 2])
        assert.deepEqual(await store.searchSome('plum banana'), [3, 1])
        assert.deepEqual(await store.searchSome('cherry apple', exists('_id'), 2), [4, 2])
        assert.deepEqual(await store.searchSome('apple banana', where('_id', 'gt', 2)), [3])
        assert.deepEqual(await store.searchSome('plum fig'), [])
        assert.deepEqual(await store.searchSome('apple'), [])
      })

      if (world.hasExactScores)
        test('score a record with some of the terms by these terms', async () => {
          const store = await newStore()
          await store.insert([{ _id: 1 }, 'one two two'], [{ _id: 2 }, 'three'])
          const [hit] = await store.hits('none two', exists('_id'), 9, 'some')
          const [same] = await store.hits('two')
          assert.deepEqual(hit, same)
        })

      test('rank texts first that are shorter or repeat the term', async () => {
        const store = await newStore()
        await store.insert(
          [{ _id: 'a' }, 'monkey bread is so tasty'],
          [{ _id: 'b' }, 'monkey monkey monkey'],
          [{ _id: 'c' }, 'monkey'],
          [{ _id: 'd' }, 'bread'],
        )
        assert.deepEqual(await store.search('monkey'), ['b', 'c', 'a'])
        assert.deepEqual(await store.search('monkey', exists('_id'), 2), ['b', 'c'])
      })

      if (world.hasExactScores)
        test('return the scores of the BM25 formula', async () => {
          const store = await newStore()
          await store.insert([{ _id: 1 }, 'one two two'], [{ _id: 2 }, 'three'])
          const [hit] = await store.hits('two')
          const norm = 1.2 * (0.25 + (0.75 * 3) / 2)
          assert.equal(hit?.[1], (Math.log(1 + 1.5 / 1.5) * 2) / (2 + norm))
        })

      test('break ties by ascending _id, whatever the order of insertion', async () => {
        const store = await newStore()
        const ids = ['10', 'b', '9', 'a', 'ä', '😀', 'B']
        for (const _id of [...ids, 5, -1, true, null]) await store.insert([{ _id }, 'same'])
        const expected = [null, -1, 5, '10', '9', 'B', 'a', 'b', 'ä', '😀', true]
        assert.deepEqual(await store.search('same'), expected)
        for (const limit of [1, 2, 5])
          assert.deepEqual(
            await store.search('same', exists('_id'), limit),
            expected.slice(0, limit),
          )
      })

      test('return the same hits in pages of any size as in a single page', async () => {
        const store = await newStore()
        const texts = [
          'red',
          'red red',
          'red fox',
          'red red fox fox',
          'fox',
          'a red, red fox',
        ]
        // Each text occurs in twenty documents, which therefore tie.
        for (let _id = 0; _id < 120; _id += 10)
          await store.insert(
            ...Array.from(
              { length: 10 },
              (_, i) =>
                [{ _id: (_id + i) * 7 - 300, n: i }, texts[(_id + i) % 6]!] as const,
            ),
          )
        for (const query of ['red', 'fox', 'fox red', 'fox a'])
          for (const filter of [exists('_id'), where('n', 'gt', 2), where('n', 'eq', 4)])
            for (const having of ['all', 'some'] as const) {
              const all = await store.hits(query, filter, 1000, having)
              for (const pageSize of all.length > 20 ? [9, 20, 1000] : [1, 3]) {
                const pages = await store.pagesOfHits(query, filter, pageSize, having)
                assert.deepEqual(pages, all)
              }
            }
      })

      test('return stable pages although documents are written between the pages', async () => {
        const store = await newStore()
        const textOf = (i: number) =>
          `${'word '.repeat(1 + (i % 4))}${'other '.repeat(i % 7)}${i % 3 === 0 ? 'rare' : ''}`
        const add = (from: number, count: number, text = textOf) =>
          store.insert(
            ...Array.from(
              { length: count },
              (_, i) => [{ _id: from + i }, text(from + i)] as const,
            ),
          )
        await add(0, 90)
        for (const [query, having] of [
          ['word', 'all'],
          ['word rare', 'all'],
          ['other word', 'all'],
          ['other word', 'some'],
          ['rare other none', 'some'],
        ] as const) {
          const before = await store.hits(query, exists('_id'), 1000, having)
          let step = 0
          // Writes between the pages change the statistics: the number of texts, their lengths, and
          // the number of texts with a term.
          const found = await store.pagesOfHits(
            query,
            exists('_id'),
            7,
            having,
            async () => {
              step++
              await add(1000 * step, 3, () => 'word '.repeat(30))
              await add(1000 * step + 500, 2, () => 'rare other thing')
              if (step > 1) await store.delete(1000 * (step - 1) + 1)
              await store.replace({ _id: 1000 * step + 2 }, 'something else')
            },
          )
          const kept = found.filter(([id]) => Number(id) < 90)
          assert.deepEqual(kept, before)
          await running.engine.truncate(store.target)
          await add(0, 90)
        }
      })

      test('reflect every change of a text', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1 }, 'red fox'], [{ _id: 2 }, 'red hen'], [{ _id: 3 }])
        assert.deepEqual(await store.search('red'), [1, 2])
        await store.replace({ _id: 1 }, 'grey fox')
        assert.deepEqual(await store.search('red'), [2])
        assert.deepEqual(await store.search('grey fox'), [1])
        await store.replace({ _id: 3 }, 'red red')
        assert.deepEqual(await store.search('red'), [3, 2])
        await store.replace({ _id: 2 })
        await store.delete(3)
        assert.deepEqual(await store.search('red'), [])
        await store.insert([{ _id: 3 }, 'fox'])
        assert.deepEqual(await store.search('fox'), [3, 1])
        await running.engine.truncate(store.target)
        assert.deepEqual(await store.search('fox'), [])
        await store.insert([{ _id: 4 }, 'fox'])
        assert.deepEqual(await store.search('fox'), [4])
      })

      test('return the same hit after a replacement with the same text', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1, n: 1 }, 'red fox'])
        const [before] = await store.hits('fox')
        assert.equal(await store.replace({ _id: 1, n: 2 } as { _id: 1 }, 'red fox'), 'done')
        assert.deepEqual(await store.hits('fox', where('n', 'eq', 2)), [before])
      })
    })

    describe('filters by terms', () => {
      test('can be combined with other filters, sorted and counted', async () => {
        const store = await newStore()
        const colors = ['red', 'green', 'blue']
        const sizes = ['small', 'large', 'small large']
        const documents = Array.from({ length: 90 }, (_, i) => ({
          document: { _id: i, n: (i * 37) % 90, group: i % 4 },
          text: i % 5 === 0 ? undefined : `${colors[i % 3]!} ${sizes[(i % 7) % 3]!}`,
        }))
        await store.insert(
          ...documents.map(({ document, text }) => [document, text] as const),
        )
        type Document = (typeof documents)[number]
        const has = (words: string) => (each: Document) =>
          words.split(' ').every((word) => each.text?.split(' ').includes(word) ?? false)
        const cases: readonly [Filter, (each: Document) => boolean][] = [
          [match('red'), has('red')],
          [match('large red'), has('large red')],
          [match('red violet'), () => false],
          [
            { kind: 'and', of: [match('red'), where('group', 'eq', 1)] },
            (each) => has('red')(each) && each.document.group === 1,
          ],
          [
            { kind: 'and', of: [match('small'), where('n', 'gt', 40), match('blue')] },
            (each) => has('small blue')(each) && each.document.n > 40,
          ],
          [
            { kind: 'or', of: [match('red'), where('group', 'eq', 1)] },
            (each) => has('red')(each) || each.document.group === 1,
          ],
          [
            { kind: 'or', of: [match('red large'), match('green small')] },
            (each) => has('red large')(each) || has('green small')(each),
          ],
          [
            { kind: 'and', of: [match('red'), where('_id', 'eq', 6)] },
            (each) => has('red')(each) && each.document._id === 6,
          ],
        ]
        for (const [filter, isWanted] of cases) {
          const expected = documents.filter(isWanted).map(({ document }) => document)
          const inOrder = (key: 'n' | '_id') =>
            expected.toSorted((a, b) => a[key] - b[key]).map(({ _id }) => _id)
          assert.equal(await store.count(filter), expected.length)
          assert.equal(await store.count(filter, 3), Math.min(3, expected.length))
          for (const pageSize of [1, 4, 100]) {
            const found = await store.ids(filter, [], pageSize)
            assert.deepEqual(
              found.sort((a, b) => Number(a) - Number(b)),
              inOrder('_id'),
            )
            assert.deepEqual(await store.ids(filter, by('n'), pageSize), inOrder('n'))
            assert.deepEqual(
              await store.ids(filter, by('-_id'), pageSize),
              inOrder('_id').reverse(),
            )
          }
        }
      })
    })
  })
}
