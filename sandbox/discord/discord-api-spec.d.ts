/** The package ships its schemas without types. */
declare module 'discord-api-spec/zod';
