// Written by `npm run types` from the service's OpenAPI document: change the types in Rust.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Agent: {
            name: string;
            settings: components["schemas"]["AgentSettings"];
            source: components["schemas"]["Source"];
            effective?: components["schemas"]["AgentSettings"];
            problem?: string;
        };
        AgentBody: {
            settings?: components["schemas"]["AgentSettings"];
        };
        AgentList: {
            items: components["schemas"]["Agent"][];
        };
        AgentSettings: {
            preset?: ("development" | "production" | "large-context" | "classic" | "basic" | "advanced" | "smart" | "aggressive" | "balanced" | "conservative" | null) | ("development" | "production" | "large-context" | "classic" | "basic" | "advanced" | "smart" | "aggressive" | "balanced" | "conservative")[];
            runs_on?: string | null;
            window?: number | null;
            threshold_percent?: number | null;
            keep_recent?: number | null;
            chain?: string | null;
            handles?: boolean | null;
            /** @enum {string|null} */
            summarizer?: "rules" | "llm" | "provider" | "off" | null;
            channel?: string | null;
            model?: string | null;
        };
        Alive: {
            status: string;
            version: string;
        };
        Appended: {
            /** Format: int64 */
            version: number;
            /** Format: int32 */
            appended: number;
            ids: string[];
            context: components["schemas"]["ContextTokens"];
            check: components["schemas"]["Check"];
            command: components["schemas"]["CommandResult"] | null;
        };
        ApplyRequest: {
            draft: string;
            summaries?: components["schemas"]["EditedSummary"][];
        };
        Arguments: {
            text: string;
            /** @enum {string} */
            kind: "json";
        } | {
            text: string;
            /** @enum {string} */
            kind: "text";
        };
        ByHandReport: {
            kept: string[];
            dropped: string[];
            stayed: components["schemas"]["StayingMessages"][];
            gone: string[];
        };
        CallUsage: {
            /** Format: int64 */
            input: number;
            /** Format: int64 */
            output: number;
            /** Format: int64 */
            cache_read?: number;
            /** Format: int64 */
            cache_write?: number;
        };
        Channel: {
            name: string;
            kind: components["schemas"]["Kind"];
            base_url?: string;
            models: string[];
            compaction: boolean;
            default: boolean;
            /** Format: int32 */
            window: number;
            source: components["schemas"]["Source"];
            has_key: boolean;
            key?: components["schemas"]["KeyName"];
            problem?: string;
        };
        ChannelBody: {
            name?: string | null;
            kind?: components["schemas"]["Kind"] | null;
            /** @example https://api.openai.com/v1 */
            base_url: string;
            models?: string[] | null;
            compaction?: boolean | null;
            default?: boolean | null;
            /** Format: int32 */
            window?: number | null;
            key?: components["schemas"]["KeyName"] | null;
        };
        ChannelList: {
            items: components["schemas"]["Channel"][];
        };
        Check: {
            should_compact: boolean;
            /** Format: int32 */
            current_tokens: number;
            /** Format: int32 */
            threshold_tokens: number | null;
            /** Format: int32 */
            usable_tokens: number;
            /** Format: double */
            share: number;
            urgency: components["schemas"]["Urgency"];
            trigger: components["schemas"]["Trigger"] | null;
            waits?: boolean;
            over?: string;
        };
        CheckAnswer: components["schemas"]["ContextFullness"] & {
            format: string;
        };
        CommandResult: {
            name: string;
            text: string;
            compacted?: components["schemas"]["Compacted"];
            undone?: components["schemas"]["Undone"];
            history?: components["schemas"]["History"];
            recalled?: components["schemas"]["RecalledContent"];
            context?: components["schemas"]["ContextTokens"];
        };
        CompactAnswer: components["schemas"]["RequestOutcome"] & {
            request: Record<string, never>;
            warnings?: string[];
        };
        CompactRequest: {
            focus?: string | null;
            /** Format: int64 */
            target?: number | null;
            task?: string | null;
            chain?: string[] | null;
            keep?: string[];
            drop?: string[];
            settings?: Record<string, never>;
        };
        Compacted: {
            report: components["schemas"]["Report"];
            /** Format: int32 */
            epoch: number | null;
            /** Format: int64 */
            version: number;
            context: components["schemas"]["ContextTokens"];
        };
        CompressAnswer: {
            messages: Record<string, never>[];
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_saved: number;
            /** Format: double */
            compression_ratio: number;
            transforms_applied: string[];
            ccr_hashes: string[];
            status: string;
        };
        CompressRequest: {
            messages: Record<string, never>[];
            model?: string | null;
            /** Format: int32 */
            token_budget?: number | null;
            config?: Record<string, never> | null;
        };
        Content: {
            text: string;
            /** @enum {string} */
            type: "text";
        } | (components["schemas"]["Thinking"] & {
            /** @enum {string} */
            type: "thinking";
        }) | (components["schemas"]["ToolCall"] & {
            /** @enum {string} */
            type: "tool-call";
        }) | (components["schemas"]["ToolResult"] & {
            /** @enum {string} */
            type: "tool-result";
        }) | (components["schemas"]["Media"] & {
            /** @enum {string} */
            type: "media";
        }) | (components["schemas"]["OpaqueBlock"] & {
            /** @enum {string} */
            type: "opaque";
        }) | {
            /** @enum {string} */
            type: "gone";
        };
        ContextContents: {
            rounds: number;
            calls: number;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            tool_definition_tokens: number;
            tokens_by_role: {
                [key: string]: number;
            };
            tokens_by_tool: {
                [key: string]: number;
            };
            parts: components["schemas"]["ContextPart"][];
            task: components["schemas"]["Verdict"];
            counter: string;
        };
        ContextFullness: components["schemas"]["Check"] & {
            /** Format: int32 */
            window_tokens: number;
            /** Format: int32 */
            reserve_output_tokens: number;
            /** Format: int32 */
            tool_definition_tokens: number;
            counter: string;
            exact: boolean;
        };
        ContextPart: {
            part: components["schemas"]["PartKind"];
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            tokens: number;
            items: components["schemas"]["ContextPartItem"][];
        };
        ContextPartItem: {
            name: string;
            /** Format: int32 */
            count: number;
            /** Format: int32 */
            tokens: number;
        };
        ContextReport: {
            messages: number;
            log_messages: number;
            fullness: components["schemas"]["ContextFullness"];
            contents: components["schemas"]["ContextContents"];
            usage: components["schemas"]["ReportedUsage"] | null;
            warnings: components["schemas"]["ContextWarning"][];
            next: components["schemas"]["NextCompaction"];
            removed: components["schemas"]["RemovedContent"];
            summaries?: components["schemas"]["ModelUsage"][];
        };
        ContextTokens: {
            /** Format: int32 */
            usedTokens: number;
            /** Format: int32 */
            maxTokens: number;
            /** Format: double */
            percent: number;
            /** Format: double */
            thresholdPercent: number;
            estimated: boolean;
        };
        ContextWarning: {
            /** Format: int32 */
            position: number;
            id: string;
            tool: string | null;
            /** Format: int32 */
            tokens: number;
            /** Format: double */
            share: number;
            /** @enum {string} */
            warning: "large-message";
        } | {
            /** Format: int32 */
            position: number;
            tool: string;
            arguments: string;
            /** Format: int32 */
            times: number;
            /** Format: int32 */
            of: number;
            /** @enum {string} */
            warning: "repeated-call";
        };
        CountAnswer: {
            /** Format: int32 */
            tokens: number;
            counter: string;
            exact: boolean;
        };
        CountRequest: {
            text?: string | null;
            request?: Record<string, never> | null;
            format?: string | null;
            counter?: string | null;
        };
        Departure: {
            edit: components["schemas"]["EditKind"];
            strategy: string;
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            first: number | null;
            /** Format: int32 */
            last: number | null;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            tokens_saved: number;
            mostly: components["schemas"]["PartKind"] | null;
            words: string;
            reason: components["schemas"]["ReasonReport"];
        };
        Description: {
            title?: string | null;
            agent?: string | null;
            settings?: Record<string, never> | null;
        };
        /** @enum {string} */
        Dialect: "anthropic" | "openai-chat" | "openai-responses" | "pi" | "gemini";
        DraftSummary: {
            /** Format: int32 */
            number: number;
            heading: string;
            text: string;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            most_tokens: number;
        };
        /** @enum {string} */
        EditKind: "drop" | "summarize" | "excerpt" | "trim";
        EditReport: {
            edit: components["schemas"]["EditKind"];
            strategy: string;
            messages: components["schemas"]["MessageId"][];
            /** Format: int32 */
            tokens_saved: number;
            reason: components["schemas"]["ReasonReport"];
            recall: string | null;
        };
        EditedSummary: {
            /** Format: int32 */
            number: number;
            text: string;
        };
        EpochAnswer: {
            entry: components["schemas"]["HistoryItem"];
            edits: components["schemas"]["EditReport"][];
            summarizer?: components["schemas"]["SummarizerRecord"];
            before: components["schemas"]["StoredMessage"][];
            after: components["schemas"]["StoredMessage"][];
        };
        /** @enum {string} */
        EpochOrigin: "engine" | "recorded";
        ErrorBody: {
            error: components["schemas"]["ErrorPart"];
            report?: components["schemas"]["Report"];
        };
        /** @enum {string} */
        ErrorCode: "already-undone" | "bad-budget" | "bad-command" | "bad-epoch" | "bad-limit" | "bad-messages" | "bad-name" | "bad-page" | "bad-path" | "bad-query" | "bad-request" | "bad-settings" | "bad-summary" | "bad-title" | "broken-body" | "busy" | "channel-not-allowed" | "compaction-running" | "conflict" | "covered" | "in-use" | "infeasible" | "internal" | "no-chain" | "no-overflow" | "no-provider-socket" | "no-route" | "no-store" | "no-summary" | "no-websocket" | "not-a-request" | "not-compacted" | "not-found" | "not-json" | "not-local" | "read-only" | "refused" | "rolled-back" | "secret" | "session-busy" | "several-requests" | "slow-body" | "stale-draft" | "still-too-long" | "store-full" | "store-unavailable" | "taken" | "timeout" | "too-large" | "too-many" | "too-many-listeners" | "too-many-parts" | "too-many-requests" | "too-many-sessions" | "unauthorized" | "unclear-provider" | "unknown-agent" | "unknown-chain" | "unknown-channel" | "unknown-draft" | "unknown-epoch" | "unknown-format" | "unknown-handle" | "unknown-hash" | "unknown-memory" | "unknown-mode" | "unknown-model" | "unknown-session" | "unknown-summary" | "unknown-task" | "unreadable-request" | "unreadable-session" | "upstream-broke-off" | "upstream-timeout" | "upstream-unreachable" | "wrong-method";
        ErrorPart: {
            type: string;
            code: components["schemas"]["ErrorCode"];
            message: string;
            help: string;
        };
        Floor: {
            /** Format: int32 */
            tokens: number;
            parts: components["schemas"]["FloorPart"][];
        };
        FloorPart: {
            part: string;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            messages: number;
        };
        FoundLine: {
            line: number;
            text: string;
        };
        FoundPassage: {
            session?: string;
            text: string;
            message: string;
            /** Format: int32 */
            number: number;
            role: components["schemas"]["Role"];
            tool?: string | null;
            file?: string | null;
            handle?: string | null;
            in_context: boolean;
            taken_back: number[];
            /** Format: float */
            score: number;
        };
        History: {
            epochs: components["schemas"]["HistoryItem"][];
        };
        HistoryEntry: {
            /** Format: int32 */
            epoch: number;
            origin: components["schemas"]["EpochOrigin"];
            trigger: components["schemas"]["Trigger"];
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            tokens_before: number | null;
            /** Format: int32 */
            tokens_after: number | null;
            edits: {
                [key: string]: number;
            };
            recall: string[];
            summaries: string[];
            undone: boolean;
        };
        HistoryItem: components["schemas"]["HistoryEntry"] & {
            /** Format: int64 */
            at: number | null;
            /** Format: int64 */
            undone_at: number | null;
            /** Format: int32 */
            covered_by: number | null;
        };
        Imported: {
            sessions: components["schemas"]["Session"][];
            warnings: string[];
        };
        InspectAnswer: components["schemas"]["ContextContents"] & {
            format: string;
            messages: number;
            largest: components["schemas"]["LargeMessage"][];
        };
        KeptMessages: {
            kept: string[];
        };
        KeptShare: {
            /** Format: int32 */
            held: number;
            /** Format: int32 */
            kept: number;
            /** Format: int32 */
            lost_now: number;
            /** Format: double */
            share: number;
            lost: string[];
            lost_earlier: string[];
        };
        KeyName: {
            /** @example EPITOME_KEY_DEFAULT_OPENAI */
            environment: string;
        };
        /** @enum {string} */
        Kind: "openai" | "anthropic";
        LargeMessage: {
            id: string;
            position: number;
            role: components["schemas"]["Role"];
            /** Format: int32 */
            tokens: number;
        };
        MaintainOutcome: {
            did: components["schemas"]["MaintenanceEffect"];
            check: components["schemas"]["Check"];
            report?: components["schemas"]["Report"];
            /** Format: int32 */
            epoch?: number;
            draft?: string;
            /** Format: int64 */
            expires_at?: number;
            summaries?: components["schemas"]["DraftSummary"][];
            session?: components["schemas"]["Session"];
            context: components["schemas"]["ContextTokens"];
            /** Format: int64 */
            version: number;
        };
        MaintainRequest: {
            confirm?: boolean | null;
        };
        /** @enum {string} */
        MaintenanceEffect: "nothing" | "compacted" | "confirmation-needed" | "refused" | "new-session";
        Media: {
            mime: string;
            name?: string;
            detail?: string;
            source: components["schemas"]["MediaSource"];
        };
        MediaSource: {
            value: string;
            /** @enum {string} */
            kind: "base64";
        } | {
            value: string;
            /** @enum {string} */
            kind: "url";
        } | {
            /** @enum {string} */
            kind: "missing";
        };
        Memory: {
            id: string;
            text: string;
            kind: components["schemas"]["MemoryKind"];
            session?: string | null;
            message: string;
            /** Format: int64 */
            time?: number | null;
        };
        /** @enum {string} */
        MemoryKind: "decision" | "preference" | "instruction" | "identifier" | "fact" | "command" | "commit";
        MemoryList: {
            items: components["schemas"]["Memory"][];
        };
        Message: {
            id: components["schemas"]["MessageId"];
            role: components["schemas"]["Role"];
            origin: components["schemas"]["Origin"];
            blocks: components["schemas"]["MessageBlock"][];
            name?: string;
            /** Format: int64 */
            timestamp?: number;
            pinned?: boolean;
            text_calls?: components["schemas"]["TextCall"][];
            usage?: components["schemas"]["Usage"];
            records?: number[];
            recorded_call_id?: string;
            program?: string;
        };
        MessageBlock: {
            content: components["schemas"]["Content"];
            raw?: components["schemas"]["RawBlock"];
            typed?: components["schemas"]["TextRange"][];
            instructions?: components["schemas"]["TextRange"][];
        };
        MessageId: string;
        Messages: {
            /** Format: int64 */
            version: number;
            /** Format: int32 */
            total: number;
            messages: components["schemas"]["StoredMessage"][];
        };
        /** @enum {string} */
        Mode: "fixed" | "adaptive" | "tournament";
        ModelUsage: {
            model: string;
            /** Format: int64 */
            answers: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            cached_tokens?: number;
            /** Format: int64 */
            output_tokens: number;
        };
        NewMessages: {
            messages: Record<string, never>[];
            format?: string | null;
            tools?: Record<string, never>[] | null;
            usage?: components["schemas"]["CallUsage"] | null;
            /** @default true */
            commands: boolean;
        };
        NewSession: {
            id?: string | null;
            title?: string | null;
            agent?: string | null;
            settings?: Record<string, never> | null;
            request?: Record<string, never> | null;
            format?: string | null;
        };
        NextCompaction: {
            trigger: components["schemas"]["Trigger"];
            status: components["schemas"]["Status"] | null;
            problem?: string;
            floor?: components["schemas"]["Floor"];
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_after: number;
            chain: string[];
            /** Format: int32 */
            stay: number;
            departures: components["schemas"]["Departure"][];
        };
        OpaqueBlock: {
            kind: string;
            json: string;
            dialect: components["schemas"]["Dialect"];
        };
        /** @enum {string} */
        Origin: "instructions" | "developer" | "configuration" | "typed" | "injected" | "tool-output" | "model" | "tool" | "summary" | "notice" | "answer";
        /** @enum {string} */
        Outcome: "kept" | "excerpted" | "trimmed" | "summarized" | "dropped" | "pinned";
        OverflowRequest: {
            /** Format: int32 */
            status?: number | null;
            body: unknown;
            /** Format: int64 */
            limit?: number | null;
            /** Format: int64 */
            tokens?: number | null;
        };
        OverflowRetry: {
            /** Format: int32 */
            limit: number;
            /** Format: int32 */
            attempts_left: number;
        };
        Overflowed: {
            retry: components["schemas"]["OverflowRetry"];
            report: components["schemas"]["Report"];
            /** Format: int32 */
            epoch: number | null;
            /** Format: int64 */
            version: number;
            context: components["schemas"]["ContextTokens"];
        };
        /** @enum {string} */
        PartKind: "system-prompt" | "tool-definitions" | "instructions" | "task" | "user" | "assistant" | "thinking" | "tool-calls" | "tool-results" | "files-read" | "images" | "summaries" | "other";
        PreviewAnswer: components["schemas"]["RequestOutcome"] & {
            summaries: components["schemas"]["DraftSummary"][];
            draft: Record<string, never>;
        };
        ProxiedConversation: {
            title: string;
            model: string | null;
            interface: string;
            /** Format: int64 */
            began: number;
            /** Format: int64 */
            last: number;
            /** Format: int64 */
            requests: number;
            /** Format: int32 */
            compactions: number;
            /** Format: int64 */
            lookups: number;
            /** Format: int64 */
            lookups_found: number;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_usable: number;
            /** Format: int64 */
            tokens_saved: number;
            reported: components["schemas"]["ReportedTokens"];
            summaries: components["schemas"]["ReportedTokens"];
            /** Format: double */
            price: number | null;
        };
        ProxiedConversations: {
            items: components["schemas"]["ProxiedConversation"][];
            total: number;
        };
        Quality: {
            /** Format: double */
            share: number;
            typed: components["schemas"]["KeptShare"];
            instructions: components["schemas"]["KeptShare"];
            conclusions: components["schemas"]["KeptShare"];
            summaries: components["schemas"]["KeptShare"];
            strings: components["schemas"]["KeptShare"];
            files: components["schemas"]["KeptShare"];
            below: components["schemas"]["Shortfall"][];
            tried: components["schemas"]["TriedChain"][];
        };
        /** @enum {string} */
        QualityPart: "typed" | "instructions" | "conclusions" | "summaries" | "strings" | "files";
        RawBlock: {
            dialect: components["schemas"]["Dialect"];
            json: string;
        };
        Ready: {
            status: string;
            proxy: boolean;
            sessions: string;
            takes_channels: boolean;
        };
        ReasonReport: {
            code: string;
            detail: string;
            /** Format: float */
            score: number | null;
        };
        RecalledContent: {
            handle: string;
            kind: string;
            text?: string;
            messages?: components["schemas"]["StoredMessage"][];
        };
        Receipt: {
            id: components["schemas"]["MessageId"];
            role: components["schemas"]["Role"];
            outcome: components["schemas"]["Outcome"];
        };
        RecentMessages: {
            /** Format: int32 */
            asked: number;
            /** Format: int32 */
            kept: number;
        };
        ReleaseRequest: {
            messages: string[];
        };
        Released: {
            released: string[];
            /** Format: int64 */
            version: number;
        };
        RemovedContent: {
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            shortened: number;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            compactions: number;
            items: components["schemas"]["RemovedItem"][];
        };
        RemovedItem: {
            /** Format: int32 */
            epoch: number;
            origin: components["schemas"]["EpochOrigin"];
            trigger: components["schemas"]["Trigger"];
            edit: components["schemas"]["EditKind"];
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            first: number | null;
            /** Format: int32 */
            tokens: number;
            words: string;
            reason: string;
            handle: string | null;
        };
        Repairs: {
            /** Format: int32 */
            removed: number;
            /** Format: int32 */
            answered: number;
            /** Format: int32 */
            empty: number;
            /** Format: int32 */
            tokens: number;
        };
        Report: {
            status: components["schemas"]["Status"];
            /** Format: int32 */
            budget: number;
            /** Format: int32 */
            target: number;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_after: number;
            /** Format: double */
            saved_ratio: number;
            repaired?: components["schemas"]["Repairs"];
            floor: components["schemas"]["Floor"] | null;
            /** Format: int32 */
            stays: number;
            stopped?: string;
            /** Format: int32 */
            messages_before: number;
            /** Format: int32 */
            messages_after: number;
            task: components["schemas"]["Verdict"];
            mode: components["schemas"]["Mode"];
            chain: string[];
            /** Format: int32 */
            cycle: number;
            trigger: components["schemas"]["Trigger"];
            /** Format: int32 */
            first_changed_message: number | null;
            /** Format: int32 */
            cache_loss_tokens: number;
            steps: components["schemas"]["Step"][];
            quality: components["schemas"]["Quality"] | null;
            edits: components["schemas"]["EditReport"][];
            messages: components["schemas"]["Receipt"][];
            recent?: components["schemas"]["RecentMessages"];
            by_hand?: components["schemas"]["ByHandReport"];
            /** Format: int32 */
            flushed_memories: number;
            summary: string | null;
            summarizer: components["schemas"]["SummarizerReport"];
            counter: string;
            timings: components["schemas"]["Timings"];
        };
        ReportedTokens: {
            /** Format: int64 */
            answers: number;
            /** Format: int64 */
            unpriced: number;
            /** Format: int64 */
            input: number;
            /** Format: int64 */
            cached: number;
            /** Format: int64 */
            cache_writes: number;
            /** Format: int64 */
            output: number;
        };
        ReportedUsage: {
            /** Format: int64 */
            tokens: number;
            messages_since: number;
        };
        RequestOutcome: {
            status: components["schemas"]["Status"];
            format: string;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_after: number;
            report: components["schemas"]["Report"];
        };
        RetrieveAnswer: {
            hash: string;
            kind: string;
            original_content: string;
            /** Format: int32 */
            original_tokens: number;
            original_item_count: number;
            messages?: Record<string, never> | null;
            /** Format: int32 */
            retrieval_count: number;
            results?: components["schemas"]["FoundLine"][] | null;
            count?: number | null;
        };
        RetrieveRequest: {
            hash: string;
            query?: string | null;
            format?: string | null;
        };
        /** @enum {string} */
        Role: "system" | "user" | "assistant" | "tool";
        SearchResult: {
            passages: components["schemas"]["FoundPassage"][];
            more: boolean;
            sessions?: number;
        };
        ServerSentEvent: {
            id?: string | null;
            event: string;
            data: string;
        };
        Session: components["schemas"]["SessionInfo"] & {
            context: components["schemas"]["ContextTokens"];
            budget: components["schemas"]["SessionBudget"];
            task: components["schemas"]["SessionTask"];
            running: boolean;
            problem?: string;
        };
        SessionBudget: {
            /** Format: int32 */
            window: number;
            /** Format: int32 */
            usable: number;
            /** Format: int32 */
            soft: number | null;
            /** Format: int32 */
            hard: number | null;
            /** Format: int32 */
            target: number;
        };
        SessionCheck: {
            check: components["schemas"]["Check"];
            context: components["schemas"]["ContextTokens"];
        };
        SessionEvent: {
            reason: components["schemas"]["Trigger"];
            /** Format: int32 */
            messageCount: number;
            /** @enum {string} */
            event: "compaction_start";
        } | {
            strategy: string;
            /** Format: int32 */
            tokensBefore: number;
            /** Format: int32 */
            tokensAfter: number;
            /** Format: int32 */
            edits: number;
            /** @enum {string} */
            event: "compaction_step";
        } | {
            /** Format: int32 */
            count: number;
            /** Format: int32 */
            messageCount: number;
            /** @enum {string} */
            event: "summary_start";
        } | {
            /** Format: int64 */
            inputTokens: number;
            /** Format: int64 */
            outputTokens: number;
            problem: string | null;
            /** @enum {string} */
            event: "summary_done";
        } | {
            success: boolean;
            status: components["schemas"]["Status"];
            stopped: string | null;
            /** Format: int32 */
            compactedCount: number;
            /** Format: int32 */
            keepRecentCount: number;
            summaryMessageId: string | null;
            summaryContent: string | null;
            /** Format: int32 */
            tokensBefore: number;
            /** Format: int32 */
            tokensAfter: number;
            /** Format: double */
            savedRatio: number;
            /** Format: int32 */
            epoch: number | null;
            /** Format: int32 */
            flushedMemories: number;
            /** @enum {string} */
            event: "compaction_done";
        } | {
            message: string;
            retryable: boolean;
            /** @enum {string} */
            event: "compaction_error";
        } | {
            /** Format: int32 */
            epoch: number;
            /** Format: int32 */
            tokensBefore: number;
            /** Format: int32 */
            tokensAfter: number;
            /** @enum {string} */
            event: "arrival_cut";
        } | {
            /** Format: int32 */
            epoch: number;
            /** Format: int32 */
            tokensBefore: number;
            /** Format: int32 */
            tokensAfter: number;
            /** @enum {string} */
            event: "results_cleared";
        } | {
            /** Format: int32 */
            epoch: number;
            /** Format: int32 */
            tokens: number;
            /** @enum {string} */
            event: "undone";
        } | {
            context: components["schemas"]["ContextTokens"];
            usage: components["schemas"]["TurnUsage"] | null;
            /** @enum {string} */
            event: "token_update";
        };
        SessionInfo: components["schemas"]["SessionMetadata"] & {
            id: string;
            /** Format: int64 */
            version: number;
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            epochs: number;
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            updated_at: number;
        };
        SessionList: {
            items: components["schemas"]["SessionInfo"][];
            next: string | null;
        };
        SessionMetadata: {
            agent?: string;
            title?: string;
            settings?: Record<string, never>;
        };
        SessionPreview: {
            draft: string;
            /** Format: int64 */
            expires_at: number;
            report: components["schemas"]["Report"];
            summaries: components["schemas"]["DraftSummary"][];
            before?: components["schemas"]["StoredMessage"][];
            after?: components["schemas"]["StoredMessage"][];
        };
        SessionTask: {
            kind: components["schemas"]["TaskKind"];
            /** Format: double */
            confidence: number;
        };
        Shortfall: {
            part: components["schemas"]["QualityPart"];
            /** Format: double */
            share: number;
            /** Format: double */
            least: number;
        };
        /** @enum {string} */
        Source: "configuration" | "stored";
        /** @enum {string} */
        Status: "no-change" | "compacted" | "near-empty" | "infeasible" | "rolled-back";
        StayingMessages: {
            messages: string;
            why: string;
        };
        Step: {
            strategy: string;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            edits: number;
            /** Format: int32 */
            refused: number;
            declined: string | null;
            /** Format: int64 */
            duration_us: number;
        };
        StoredMessage: {
            /** Format: int32 */
            number: number | null;
            message: components["schemas"]["Message"];
            is_edited: boolean;
            is_summary: boolean;
            /** Format: int64 */
            compacted_at: number | null;
            compacted_into: string | null;
        };
        Subject: {
            request: Record<string, never>;
            format?: string | null;
            /** Format: int32 */
            budget?: number | null;
            /** Format: int32 */
            window?: number | null;
            model?: string | null;
            /** Format: int32 */
            target?: number | null;
            focus?: string | null;
            task?: string | null;
            chain?: string[] | null;
            mode?: string | null;
            settings?: Record<string, never>;
            draft?: Record<string, never> | null;
            summaries?: components["schemas"]["EditedSummary"][];
        };
        SummarizerRecord: {
            kind: string;
            fell_back: boolean;
            problem?: string;
            checks?: components["schemas"]["SummaryCheck"][];
            models?: components["schemas"]["ModelUsage"][];
            written?: number[];
        };
        SummarizerReport: {
            kind: string;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            cached_tokens?: number;
            /** Format: int64 */
            output_tokens: number;
            models?: components["schemas"]["ModelUsage"][];
            fell_back: boolean;
            problem?: string;
            checks?: components["schemas"]["SummaryCheck"][];
        };
        SummaryCheck: {
            /** Format: int32 */
            strings: number;
            unknown?: string[];
            /** Format: int32 */
            demands: number;
            added_demands?: string[];
            /** Format: int32 */
            files: number;
            added_files?: string[];
            left_out?: string[];
            corrected?: string[];
            asked_again?: string;
        };
        /** @enum {string} */
        TaskKind: "code" | "analysis" | "conversation" | "mixed" | "unknown";
        TextCall: {
            name: string;
            /** Format: int32 */
            block: number;
            /** Format: int32 */
            start: number;
            /** Format: int32 */
            end: number;
        };
        TextRange: {
            /** Format: int32 */
            start: number;
            /** Format: int32 */
            end: number;
        };
        Thinking: {
            text: string;
            signature?: string;
            redacted?: boolean;
        };
        Timings: {
            /** Format: int64 */
            configure_us?: number;
            /** Format: int64 */
            read_us?: number;
            /** Format: int64 */
            count_us?: number;
            /** Format: int64 */
            detect_us: number;
            /** Format: int64 */
            plan_us: number;
            /** Format: int64 */
            quality_us: number;
            /** Format: int64 */
            write_us?: number;
        };
        ToolCall: {
            id: string;
            name: string;
            arguments: components["schemas"]["Arguments"];
        };
        ToolResult: {
            call_id: string;
            name?: string;
            text: string;
            attachments?: components["schemas"]["Media"][];
            is_error?: boolean;
        };
        TriedChain: {
            chain: string[];
            /** Format: int32 */
            tokens_after: number;
            /** Format: double */
            share: number | null;
            below: components["schemas"]["Shortfall"][];
            problem?: string;
        };
        /** @enum {string} */
        Trigger: "manual" | "soft" | "hard" | "remaining-share" | "rounds" | "marker" | "overflow" | "arrival" | "clearing" | "recorded" | "taken-back" | "kept";
        TurnUsage: {
            /** Format: int64 */
            inputTokens: number;
            /** Format: int64 */
            outputTokens: number;
            /** Format: int64 */
            totalTokens: number;
            /** Format: int32 */
            calls: number;
        };
        UndoRequest: {
            /** Format: int64 */
            epoch?: number | null;
        };
        Undone: {
            /** Format: int32 */
            epoch: number;
            /** Format: int64 */
            version: number;
            context: components["schemas"]["ContextTokens"];
        };
        /** @enum {string} */
        Urgency: "none" | "soft" | "hard";
        Usage: {
            /** Format: int64 */
            input: number;
            /** Format: int64 */
            cache_read: number;
            /** Format: int64 */
            cache_write: number;
            /** Format: int64 */
            output: number;
        };
        Verdict: {
            kind: components["schemas"]["TaskKind"];
            /** Format: double */
            confidence: number;
            evidence: string[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Agent = components['schemas']['Agent'];
export type AgentBody = components['schemas']['AgentBody'];
export type AgentList = components['schemas']['AgentList'];
export type AgentSettings = components['schemas']['AgentSettings'];
export type Alive = components['schemas']['Alive'];
export type Appended = components['schemas']['Appended'];
export type ApplyRequest = components['schemas']['ApplyRequest'];
export type Arguments = components['schemas']['Arguments'];
export type ByHandReport = components['schemas']['ByHandReport'];
export type CallUsage = components['schemas']['CallUsage'];
export type Channel = components['schemas']['Channel'];
export type ChannelBody = components['schemas']['ChannelBody'];
export type ChannelList = components['schemas']['ChannelList'];
export type Check = components['schemas']['Check'];
export type CheckAnswer = components['schemas']['CheckAnswer'];
export type CommandResult = components['schemas']['CommandResult'];
export type CompactAnswer = components['schemas']['CompactAnswer'];
export type CompactRequest = components['schemas']['CompactRequest'];
export type Compacted = components['schemas']['Compacted'];
export type CompressAnswer = components['schemas']['CompressAnswer'];
export type CompressRequest = components['schemas']['CompressRequest'];
export type Content = components['schemas']['Content'];
export type ContextContents = components['schemas']['ContextContents'];
export type ContextFullness = components['schemas']['ContextFullness'];
export type ContextPart = components['schemas']['ContextPart'];
export type ContextPartItem = components['schemas']['ContextPartItem'];
export type ContextReport = components['schemas']['ContextReport'];
export type ContextTokens = components['schemas']['ContextTokens'];
export type ContextWarning = components['schemas']['ContextWarning'];
export type CountAnswer = components['schemas']['CountAnswer'];
export type CountRequest = components['schemas']['CountRequest'];
export type Departure = components['schemas']['Departure'];
export type Description = components['schemas']['Description'];
export type Dialect = components['schemas']['Dialect'];
export type DraftSummary = components['schemas']['DraftSummary'];
export type EditKind = components['schemas']['EditKind'];
export type EditReport = components['schemas']['EditReport'];
export type EditedSummary = components['schemas']['EditedSummary'];
export type EpochAnswer = components['schemas']['EpochAnswer'];
export type EpochOrigin = components['schemas']['EpochOrigin'];
export type ErrorBody = components['schemas']['ErrorBody'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type ErrorPart = components['schemas']['ErrorPart'];
export type Floor = components['schemas']['Floor'];
export type FloorPart = components['schemas']['FloorPart'];
export type FoundLine = components['schemas']['FoundLine'];
export type FoundPassage = components['schemas']['FoundPassage'];
export type History = components['schemas']['History'];
export type HistoryEntry = components['schemas']['HistoryEntry'];
export type HistoryItem = components['schemas']['HistoryItem'];
export type Imported = components['schemas']['Imported'];
export type InspectAnswer = components['schemas']['InspectAnswer'];
export type KeptMessages = components['schemas']['KeptMessages'];
export type KeptShare = components['schemas']['KeptShare'];
export type KeyName = components['schemas']['KeyName'];
export type Kind = components['schemas']['Kind'];
export type LargeMessage = components['schemas']['LargeMessage'];
export type MaintainOutcome = components['schemas']['MaintainOutcome'];
export type MaintainRequest = components['schemas']['MaintainRequest'];
export type MaintenanceEffect = components['schemas']['MaintenanceEffect'];
export type Media = components['schemas']['Media'];
export type MediaSource = components['schemas']['MediaSource'];
export type Memory = components['schemas']['Memory'];
export type MemoryKind = components['schemas']['MemoryKind'];
export type MemoryList = components['schemas']['MemoryList'];
export type Message = components['schemas']['Message'];
export type MessageBlock = components['schemas']['MessageBlock'];
export type MessageId = components['schemas']['MessageId'];
export type Messages = components['schemas']['Messages'];
export type Mode = components['schemas']['Mode'];
export type ModelUsage = components['schemas']['ModelUsage'];
export type NewMessages = components['schemas']['NewMessages'];
export type NewSession = components['schemas']['NewSession'];
export type NextCompaction = components['schemas']['NextCompaction'];
export type OpaqueBlock = components['schemas']['OpaqueBlock'];
export type Origin = components['schemas']['Origin'];
export type Outcome = components['schemas']['Outcome'];
export type OverflowRequest = components['schemas']['OverflowRequest'];
export type OverflowRetry = components['schemas']['OverflowRetry'];
export type Overflowed = components['schemas']['Overflowed'];
export type PartKind = components['schemas']['PartKind'];
export type PreviewAnswer = components['schemas']['PreviewAnswer'];
export type ProxiedConversation = components['schemas']['ProxiedConversation'];
export type ProxiedConversations = components['schemas']['ProxiedConversations'];
export type Quality = components['schemas']['Quality'];
export type QualityPart = components['schemas']['QualityPart'];
export type RawBlock = components['schemas']['RawBlock'];
export type Ready = components['schemas']['Ready'];
export type ReasonReport = components['schemas']['ReasonReport'];
export type RecalledContent = components['schemas']['RecalledContent'];
export type Receipt = components['schemas']['Receipt'];
export type RecentMessages = components['schemas']['RecentMessages'];
export type ReleaseRequest = components['schemas']['ReleaseRequest'];
export type Released = components['schemas']['Released'];
export type RemovedContent = components['schemas']['RemovedContent'];
export type RemovedItem = components['schemas']['RemovedItem'];
export type Repairs = components['schemas']['Repairs'];
export type Report = components['schemas']['Report'];
export type ReportedTokens = components['schemas']['ReportedTokens'];
export type ReportedUsage = components['schemas']['ReportedUsage'];
export type RequestOutcome = components['schemas']['RequestOutcome'];
export type RetrieveAnswer = components['schemas']['RetrieveAnswer'];
export type RetrieveRequest = components['schemas']['RetrieveRequest'];
export type Role = components['schemas']['Role'];
export type SearchResult = components['schemas']['SearchResult'];
export type ServerSentEvent = components['schemas']['ServerSentEvent'];
export type Session = components['schemas']['Session'];
export type SessionBudget = components['schemas']['SessionBudget'];
export type SessionCheck = components['schemas']['SessionCheck'];
export type SessionEvent = components['schemas']['SessionEvent'];
export type SessionInfo = components['schemas']['SessionInfo'];
export type SessionList = components['schemas']['SessionList'];
export type SessionMetadata = components['schemas']['SessionMetadata'];
export type SessionPreview = components['schemas']['SessionPreview'];
export type SessionTask = components['schemas']['SessionTask'];
export type Shortfall = components['schemas']['Shortfall'];
export type Source = components['schemas']['Source'];
export type Status = components['schemas']['Status'];
export type StayingMessages = components['schemas']['StayingMessages'];
export type Step = components['schemas']['Step'];
export type StoredMessage = components['schemas']['StoredMessage'];
export type Subject = components['schemas']['Subject'];
export type SummarizerRecord = components['schemas']['SummarizerRecord'];
export type SummarizerReport = components['schemas']['SummarizerReport'];
export type SummaryCheck = components['schemas']['SummaryCheck'];
export type TaskKind = components['schemas']['TaskKind'];
export type TextCall = components['schemas']['TextCall'];
export type TextRange = components['schemas']['TextRange'];
export type Thinking = components['schemas']['Thinking'];
export type Timings = components['schemas']['Timings'];
export type ToolCall = components['schemas']['ToolCall'];
export type ToolResult = components['schemas']['ToolResult'];
export type TriedChain = components['schemas']['TriedChain'];
export type Trigger = components['schemas']['Trigger'];
export type TurnUsage = components['schemas']['TurnUsage'];
export type UndoRequest = components['schemas']['UndoRequest'];
export type Undone = components['schemas']['Undone'];
export type Urgency = components['schemas']['Urgency'];
export type Usage = components['schemas']['Usage'];
export type Verdict = components['schemas']['Verdict'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
