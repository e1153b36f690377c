/** Prints the report of `stela check` on a cluster. */
import { counted } from '../errors/catalog-entry.ts'
import type { ClusterReport } from '../open-engine.ts'

/** The findings of all collections and tables, one per line. */
export function findingsIn({ targets }: Pick<ClusterReport, 'targets'>): readonly string[] {
  return targets.flatMap(({ keyspace, name, findings }) =>
    findings.map((finding) => `${keyspace}.${name}: ${finding}`),
  )
}

/** Returns the text of the report, and the number of problems. */
export function describeCluster(report: ClusterReport): readonly [string, number] {
  const { cluster, targets, settings } = report
  const nodes = describeNodes(report)
  const schema = describeSchema(report)
  const findings = findingsIn(report)
  const wrong =
    nodes.down + schema.wrong + findings.length + (settings === undefined ? 0 : 1)
  const lines = [
    `release ${cluster.release}`,
    ...capabilities.map(([name, does]) => `  ${cluster[name] ? 'yes' : 'no '}  ${does}`),
    ...nodes.lines,
    ...schema.lines,
    ...(settings === undefined ? [] : [`settings: ${settings}`]),
    ...findings,
    wrong === 0
      ? `No problems in ${describeCounts(targets)}.`
      : `${counted(wrong, 'problem')} in ${describeCounts(targets)}.`,
  ]
  return [lines.map((line) => `${line}\n`).join(''), wrong]
}

const capabilities = [
  ['vectors', 'vector search'],
  ['indexAnalyzer', 'lexical search; if not, servers store a term index'],
  ['or', '$or, and $in on several columns, in one query'],
  ['notEquals', '$ne and $nin by index'],
  ['notContains', '$nin on lists, sets and maps by index'],
  ['indexedIn', '$in by index in one query'],
  ['mapRanges', '$gt, $gte, $lt and $lte on numbers and dates of documents by index'],
  ['sourceModel', 'source model of vectors in the index; if not, in the table comment'],
  ['extensions', 'embedding services in table extensions; if not, in the table comment'],
] as const

function describeNodes({ nodes, localDataCenter }: ClusterReport) {
  const centers = Map.groupBy(nodes, ({ dataCenter }) => dataCenter)
  const lines = Array.from(centers).flatMap(([center, own]) => [
    `data center ${center}${center === localDataCenter ? ' (local)' : ''}`,
    ...own.map(
      ({ address, release, isUp }) => `  ${address} ${isUp ? 'up' : 'DOWN'}, ${release}`,
    ),
  ])
  return { lines, down: nodes.filter(({ isUp }) => !isUp).length }
}

function describeSchema({ schemas }: ClusterReport) {
  if (schemas.size <= 1) return { lines: ['schema: all nodes agree'], wrong: 0 }
  const lines = [
    'schema: the nodes DISAGREE',
    ...Array.from(schemas, ([version, nodes]) => `  ${version}: ${nodes.join(', ')}`),
  ]
  return { lines, wrong: 1 }
}

function describeCounts(targets: ClusterReport['targets']): string {
  const collections = targets.filter(({ kind }) => kind === 'collection').length
  const tables = targets.length - collections
  return `${counted(collections, 'collection')} and ${counted(tables, 'table')}`
}
