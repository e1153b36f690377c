export declare function sourceState(): string
export declare function isCurrent(): boolean
export declare function writeState(folder: string, sources: string): void
