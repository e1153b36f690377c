/**
 * Routes have no schemas: each reads what it takes itself. So Fastify is spared the compilers
 * of schemas, whose loading takes a quarter of a server's start.
 */
function refuseSchemas(): never {
  throw new Error('Routes have no schemas here: read the body in the route')
}

export const noSchemas = {
  compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
}
