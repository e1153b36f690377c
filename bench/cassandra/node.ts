/**
 * The measured node: named by an environment variable, or started by this module.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectOptions } from '../../tests/cassandra/connect.ts'
import { startNode } from '../../tests/cassandra/node.ts'
import { testNode } from '../../tests/cassandra/test-node.ts'
import { processorMsOf } from '../processes.ts'

export interface MeasuredNode {
  readonly connect: ConnectOptions
  /** CPU time of the node in milliseconds; undefined if the system does not report it. */
  readonly processorMs: () => number | undefined
  /** Waits until the node is nearly idle, because it flushes and compacts after writes. */
  settle(): Promise<void>
  remove(): Promise<void>
}

const settleMsMax = 60_000
/** Share of CPU time below which the node counts as idle. */
const idleShare = 0.2

/** Size of the Java heap. Vector searches keep large parts of an index in memory. */
const heapMegabytes = 2_048

export async function takeNode(): Promise<MeasuredNode> {
  const isNamed = process.env['STELA_TEST_CASSANDRA'] !== undefined
  const own = isNamed ? undefined : await startNode({ durable: false, heapMegabytes })
  const connect = own?.connect ?? (await testNode())
  const pid = listenerOn(connect.port)
  const processorMs = () => processorMsOf(pid)
  return {
    connect,
    processorMs,
    settle: () => settle(processorMs),
    remove: async () => own?.remove(),
  }
}

async function settle(processorMs: MeasuredNode['processorMs']): Promise<void> {
  const deadline = performance.now() + settleMsMax
  while (performance.now() < deadline) {
    const before = processorMs()
    await sleep(1000)
    const now = processorMs()
    if (before === undefined || now === undefined) return
    if (now - before < 1000 * idleShare) return
  }
}

/** Process id of the listener on a local port; undefined if the system does not report it. */
function listenerOn(port: number): number | undefined {
  try {
    const inode = inodeOn(port)
    if (inode === undefined) return undefined
    return processes().find((pid) => socketsOf(pid).includes(`socket:[${inode}]`))
  } catch {
    return undefined
  }
}

/**
 * Inode of the socket that listens on a port. The first fields of a line are number, local address,
 * remote address and state; the inode is the tenth field.
 */
function inodeOn(port: number): string | undefined {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, '0')
  const tables = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/net/${name}`, 'utf8'))
  const fields = tables
    .flatMap((table) => table.split('\n'))
    .map((line) => line.trim().split(/\s+/))
  const listening = '0A'
  return fields.find(
    ([, local, , state]) => local?.endsWith(`:${hexadecimal}`) && state === listening,
  )?.[9]
}

function processes(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).flatMap((name) => linkAt(`${folder}/${name}`))
  } catch {
    // The process has ended, or it belongs to another user.
    return []
  }
}

function linkAt(path: string): string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}
