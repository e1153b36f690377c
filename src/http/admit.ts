/**
 * Until a connection has sent a valid token, its requests wait for the turn of their client's
 * address.
 */
import type { RequestListener } from 'node:http'
import type { Authenticator } from '../auth/authenticator.ts'
import type { ArrivalQueue } from './arrival-queue.ts'
import { addressOfClient, type ProxySettings } from './client-address.ts'
import { connectionOf, isGone } from './connection.ts'
import { tokenOf } from './headers.ts'

interface AdmissionServices extends ProxySettings {
  readonly authenticator: Authenticator
}

export function admitInTurn(
  handle: RequestListener,
  services: AdmissionServices,
  arrivals: ArrivalQueue,
): RequestListener {
  const { authenticator } = services
  return (request, response) => {
    const token = tokenOf(request.headers)
    if (token !== undefined && authenticator.hasShown(token, connectionOf(request))) {
      handle(request, response)
      return
    }
    arrivals.add(addressOfClient(request, services), () => {
      if (!isGone(response)) handle(request, response)
    })
  }
}
