/** Style sheets are bundled; nothing is imported from them. */
declare module '*.css'
