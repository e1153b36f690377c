/**
 * node:http as CommonJS loads it. An `import` reads every export of the module, one of which loads
 * a WebSocket client: a tenth of a server's start time.
 */
export const http = process.getBuiltinModule('node:http')
