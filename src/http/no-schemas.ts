/**
 * Routes have no schemas: each route validates its own input. So Fastify does not load its schema
 * compilers, which would take a quarter of the time to start a server.
 */
function refuseSchemas(): never {
  throw new Error('Routes have no schemas here: read the body in the route')
}

export const noSchemas = {
  compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
}
