/**
 * Runs a study at toy size, to detect changes that break it. Checks the form of the results only.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { plotCurve } from '../../bench/plot.ts'
import { printFindings } from '../../bench/report.ts'
import type { Study } from '../../bench/workloads/study.ts'

export function testStudy(study: Study, sizes: readonly number[]): void {
  const skip = study.missing?.() ?? false
  test(`the ${study.name} study produces all its tables`, { skip }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stela-bench-test-'))
    try {
      const findings = await study.run({
        size: Math.max(...sizes),
        sizes,
        vectors: [20, 40],
        connections: [2],
        seconds: 0.02,
        seed: 7,
        rounds: 1,
        folder,
        progress: () => undefined,
      })
      for (const { title, head, rows } of findings.tables) {
        assert(rows.length > 0, title)
        for (const row of rows)
          assert.equal(row.length, head.length, `${title}: ${row.join()}`)
      }
      for (const { what, value } of findings.figures)
        assert(Number.isFinite(value) && value > 0, what)
      assert.doesNotMatch(printFindings(findings), /NaN|Infinity|undefined/)
      if (findings.curve !== undefined) assertWellDrawn(plotCurve(findings.curve))
    } finally {
      await rm(folder, { recursive: true })
    }
  })
}

function assertWellDrawn(svg: string): void {
  assert.match(svg, /^<svg [^>]*>\n/)
  assert.match(svg, /<\/svg>\n$/)
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/)
}
