/** Of our environment, what the processes of a server get: none of it sets them up. */
export const serverEnvironment = {
  PATH: process.env['PATH'],
  // Where `npm test` keeps compiled sources, so that not every process compiles them anew.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}
