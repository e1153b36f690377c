/**
 * The module node:http as CommonJS loads it. An `import` evaluates every export of the module,
 * including a WebSocket client, whose load takes a tenth of the server's start time.
 */
export const http = process.getBuiltinModule('node:http')
