/** Style sheets are bundled; their imports have no exports. */
declare module '*.css'
