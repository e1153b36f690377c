/** Settings of operators for providers. */
export interface ProviderSettings {
  /** URLs to call instead of the provider's own, by provider. */
  readonly embeddingUrls: ReadonlyMap<string, string>
  readonly rerankingUrls: ReadonlyMap<string, string>
  /**
   * The server's keys, for requests without a key. "openai" is the key of the provider;
   * "openai.team" is a key that collections select by the name "team".
   */
  readonly embeddingKeys: ReadonlyMap<string, string>
  readonly rerankingKeys: ReadonlyMap<string, string>
  /** Whether URLs from collections may lead into the server's own network. */
  readonly privateProviders: boolean
}

export const defaultProviderSettings: ProviderSettings = {
  embeddingUrls: new Map(),
  rerankingUrls: new Map(),
  embeddingKeys: new Map(),
  rerankingKeys: new Map(),
  privateProviders: false,
}
