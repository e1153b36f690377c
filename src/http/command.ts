/**
 * Serves the request of a command, or of a protocol message that contains one, from headers to
 * response.
 *
 * Checks run in this order, and the first failure is the reply: token, path and method (app.ts),
 * host and database, content type, load, size, body (body.ts), and the command itself
 * (commands/dispatch/dispatch.ts). Nothing of a body is read before the client is authenticated.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dispatch } from '../commands/dispatch/dispatch.ts'
import { explainFailure, type ErrorContext } from '../commands/dispatch/failures.ts'
import type { Database, Databases } from '../databases/databases.ts'
import { ApiError, apiError } from '../errors/api-error.ts'
import { andThen } from '../runtime/steps.ts'
import { databaseInHost, type Address } from './address.ts'
import { authenticate, isUnauthenticated, type Unauthenticated } from './authenticate.ts'
import { packingOf, packings, type Packing } from './compression.ts'
import { asksToContinue, hostOf, hostProblem, isGone, isMultiplexed } from './connection.ts'
import { isJson } from './headers.ts'
import { HttpCall, overloaded, type HttpServices } from './http-call.ts'
import type { Answer } from './protocol.ts'
import type { NotReceived } from './receive-body.ts'
import { keepMaxUnknown, refuse } from './refuse.ts'
import {
  encode,
  lengthOf,
  printReply,
  send,
  sendEncoded,
  statusOf,
  type EncodedBody,
} from './reply.ts'

export async function answerCommand(
  address: Address,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  services: HttpServices,
): Promise<void> {
  const found = authenticate(request, requestId, services)
  const principal = found instanceof Promise ? await found : found
  if (isUnauthenticated(principal)) {
    refuseUnauthenticated(request, response, principal, requestId, services)
    return
  }
  const { limits, bodies, commandRoom, shutdown } = services
  const refuseWith = (error: ApiError) => {
    const keepMax = Math.max(limits.bodySizeMax, keepMin)
    const drain = { keepMax, drainMax: keepMax }
    refuse(request, response, { errors: [error] }, requestId, drain)
  }
  const database = databaseFor(address, request, services.databases)
  if (database instanceof ApiError) {
    refuseWith(database)
    return
  }
  const call = new HttpCall(
    address,
    database,
    principal,
    request,
    response,
    requestId,
    services,
  )
  const asked = refusalOf(request, services) ?? noRoomOf(call, response, services)
  const refusal = asked instanceof Promise ? await asked : asked
  if (refusal !== undefined) {
    refuseWith(refusal)
    return
  }
  const packing = packingOf(request.headers['content-encoding']) as Packing | undefined
  const askFor = asksToContinue(request) ? () => response.writeContinue() : undefined
  const body = await bodies.receive(request, call, limits.bodySizeMax, packing, askFor)
  if (body === 'broken') return
  if (typeof body === 'string') {
    refuseWith(notReceived(body, packing, services))
    return
  }
  let isAtWork = false
  try {
    const taken = commandRoom.take(call, 1)
    isAtWork = taken instanceof Promise ? await taken : taken
  } finally {
    if (!isAtWork) body.release()
  }
  if (!isAtWork) {
    refuseWith(overloaded('overloaded', services))
    return
  }
  shutdown.running++
  call.begin(body.takeBytes())
  let answer: Answer
  if (address.isMcp) answer = await services.mcp.answer(call)
  else {
    const reply = await dispatch(call, services)
    call.count(reply)
    answer = { status: statusOf(reply), body: printReply(reply) }
  }
  call.end()
  body.release()
  // Without this header, the stopping server would keep the connection open for further requests.
  if (shutdown.stopping && !isMultiplexed(request))
    response.setHeader('Connection', 'close')
  const sending = sendAnswer(call, response, answer, services)
  if (sending !== undefined) await sending
}

/** Sends the reply. The command counts as running until the last byte was sent. */
function sendAnswer(
  call: HttpCall,
  response: ServerResponse,
  answer: Answer,
  services: HttpServices,
): undefined | Promise<undefined> {
  if (isGone(response)) {
    call.release()
    return undefined
  }
  response.on('close', () => call.release())
  return andThen(encode(answer.body, call), (encoded) => {
    // If the client disconnected, the memory of the call has been released. The reply must not
    // reserve any again.
    if (isGone(response)) return undefined
    return holdAndSend(call, response, answer, encoded, services)
  })
}

function holdAndSend(
  call: HttpCall,
  response: ServerResponse,
  answer: Answer,
  encoded: EncodedBody,
  services: HttpServices,
): undefined | Promise<undefined> {
  return andThen(call.holdReply(lengthOf(encoded.text), encoded.size), (isHeld) => {
    // If the client disconnected, the memory of the reply has been released already.
    if (!isGone(response)) sendBody(isHeld, call, response, answer, encoded, services)
    return undefined
  })
}

function sendBody(
  isHeld: boolean,
  call: HttpCall,
  response: ServerResponse,
  { status, headers }: Answer,
  encoded: EncodedBody,
  services: HttpServices,
): void {
  const { requestId } = call
  if (!isHeld) {
    const refusal = { errors: [overloaded('no_room_for_reply', services)] }
    send(response, refusal, requestId, call)
    return
  }
  for (const name in headers) response.setHeader(name, headers[name]!)
  if (encoded.size === 0)
    response.writeHead(status, { 'X-Request-Id': requestId, 'Content-Length': 0 }).end()
  else sendEncoded(response, status, 'application/json', encoded, requestId, call)
}

/**
 * Answers a request that failed outside of its command, because shared state such as limits was not
 * available or because of an internal error.
 */
export async function answerFailure(
  failure: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string | undefined,
  { limits, log, engine }: Pick<HttpServices, 'limits' | 'log' | 'engine'>,
): Promise<void> {
  const errors = await explainFailure(failure, beforeCommands, () => engine, log)
  // A response that has been started cannot be replaced by the error.
  if (response.headersSent) request.destroy()
  else {
    const drain = { keepMax: keepMaxUnknown, drainMax: limits.bodySizeMax }
    refuse(request, response, { errors }, requestId, drain)
  }
}

/** Context of errors before the command is known. */
const beforeCommands: ErrorContext = {
  keyspace: '',
  target: '',
  command: undefined,
  does: undefined,
  fields: undefined,
}

/**
 * After a rejection, up to this many bytes of a body are drained so that the connection stays open,
 * even if the limit for bodies is smaller.
 */
const keepMin = 1_000_000

/** Rejects the request without reading its body. */
export function refuseUnauthenticated(
  request: IncomingMessage,
  response: ServerResponse,
  { error, retryAfterSeconds }: Unauthenticated,
  requestId: string | undefined,
  { limits, metrics }: Pick<HttpServices, 'limits' | 'metrics'>,
): void {
  metrics?.countRefused('unauthenticated')
  if (retryAfterSeconds > 0) response.setHeader('Retry-After', retryAfterSeconds)
  const drain = { keepMax: keepMaxUnknown, drainMax: limits.bodySizeMax }
  refuse(request, response, { errors: [error] }, requestId, drain)
}

/** The error for unsupported headers; undefined when all are supported. */
function refusalOf(
  { headers }: IncomingMessage,
  { compression }: HttpServices,
): ApiError | undefined {
  const contentType = headers['content-type']
  if (contentType !== undefined && !isJson(contentType))
    return apiError('UNSUPPORTED_CONTENT_TYPE', { contentType })
  const encoding = headers['content-encoding']
  const packing = packingOf(encoding)
  if (packing === undefined || (packing !== 'unknown' && compression)) return undefined
  return apiError('UNSUPPORTED_CONTENT_ENCODING', {
    encoding: encoding!,
    known: compression ? packings : [],
  })
}

/**
 * The error for a request that is rejected because of load; undefined: the request may run. The
 * load is checked before the body arrives, so that the client can omit the body.
 */
function noRoomOf(
  call: HttpCall,
  response: ServerResponse,
  services: HttpServices,
): ApiError | undefined | Promise<ApiError | undefined> {
  return andThen(services.commandRoom.hasRoom(call, 1), (hasRoom) =>
    hasRoom ? tooFastOf(call, response, services) : overloaded('overloaded', services),
  )
}

function tooFastOf(
  call: HttpCall,
  response: ServerResponse,
  { rateLimit, metrics }: HttpServices,
): ApiError | undefined | Promise<ApiError | undefined> {
  if (rateLimit === undefined) return undefined
  return andThen(rateLimit.take(call.principalName), (seconds) => {
    if (seconds === 0) return undefined
    metrics?.countRefused('rate_limited')
    response.setHeader('Retry-After', seconds)
    return apiError('RATE_LIMIT_EXCEEDED', { perSecond: rateLimit.perSecond, seconds })
  })
}

function notReceived(
  reason: Exclude<NotReceived, 'broken'>,
  packing: Packing | undefined,
  services: HttpServices,
): ApiError {
  switch (reason) {
    case 'too large':
      return apiError('BODY_TOO_LARGE', { max: services.limits.bodySizeMax })
    case 'no room':
      return overloaded('no_room_for_body', services)
    case 'damaged':
      return apiError('REQUEST_NOT_JSON', {
        problem: `it is not valid ${packing!}, which the Content-Encoding header names`,
      })
  }
}

/** The database that the request addresses, or the error when it does not exist. */
function databaseFor(
  address: Address,
  request: IncomingMessage,
  databases: Databases,
): Database | ApiError {
  let id = address.database
  if (id === undefined) {
    const problem = hostProblem(request)
    if (problem !== undefined) return apiError('MALFORMED_REQUEST', { problem })
    id = databaseInHost(hostOf(request))
    if (id === undefined) return databases.home
  }
  return databases.find(id) ?? apiError('UNKNOWN_DATABASE', { database: id })
}
