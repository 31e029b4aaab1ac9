// Written by `npm run types` from the service's OpenAPI document: change the types in Rust.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Agent: {
            effective?: components["schemas"]["AgentSettings"];
            name: string;
            problem?: string;
            settings: components["schemas"]["AgentSettings"];
            source: components["schemas"]["Source"];
        };
        AgentBody: {
            settings?: components["schemas"]["AgentSettings"];
        };
        AgentList: {
            items: components["schemas"]["Agent"][];
        };
        AgentSettings: {
            chain?: string | null;
            channel?: string | null;
            handles?: boolean | null;
            keep_recent?: number | null;
            model?: string | null;
            preset?: ("development" | "production" | "large-context" | "classic" | "basic" | "advanced" | "smart" | "aggressive" | "balanced" | "conservative" | null) | ("development" | "production" | "large-context" | "classic" | "basic" | "advanced" | "smart" | "aggressive" | "balanced" | "conservative")[];
            runs_on?: string | null;
            /** @enum {string|null} */
            summarizer?: "rules" | "llm" | "provider" | "off" | null;
            threshold_percent?: number | null;
            window?: number | null;
        };
        Alive: {
            status: string;
            version: string;
        };
        Appended: {
            /** Format: int32 */
            appended: number;
            check: components["schemas"]["Check"];
            command: components["schemas"]["CommandResult"] | null;
            context: components["schemas"]["ContextTokens"];
            ids: string[];
            /** Format: int64 */
            version: number;
        };
        ApplyAsk: {
            draft: string;
            summaries?: components["schemas"]["EditedSummary"][];
        };
        Arguments: {
            /** @enum {string} */
            kind: "json";
            text: string;
        } | {
            /** @enum {string} */
            kind: "text";
            text: string;
        };
        Ask: {
            chain?: string[] | null;
            drop?: string[];
            focus?: string | null;
            keep?: string[];
            settings?: Record<string, never>;
            /** Format: int64 */
            target?: number | null;
            task?: string | null;
        };
        ByHandReport: {
            dropped: string[];
            gone: string[];
            kept: string[];
            stayed: components["schemas"]["StayingMessages"][];
        };
        CallUsage: {
            /** Format: int64 */
            cache_read?: number;
            /** Format: int64 */
            cache_write?: number;
            /** Format: int64 */
            input: number;
            /** Format: int64 */
            output: number;
        };
        Channel: {
            base_url?: string;
            compaction: boolean;
            default: boolean;
            has_key: boolean;
            key?: components["schemas"]["KeyName"];
            kind: components["schemas"]["Kind"];
            models: string[];
            name: string;
            problem?: string;
            source: components["schemas"]["Source"];
            /** Format: int32 */
            window: number;
        };
        ChannelBody: {
            /** @example https://api.openai.com/v1 */
            base_url: string;
            compaction?: boolean | null;
            default?: boolean | null;
            key?: components["schemas"]["KeyName"] | null;
            kind?: components["schemas"]["Kind"] | null;
            models?: string[] | null;
            name?: string | null;
            /** Format: int32 */
            window?: number | null;
        };
        ChannelList: {
            items: components["schemas"]["Channel"][];
        };
        Check: {
            /** Format: int32 */
            current_tokens: number;
            over?: string;
            /** Format: double */
            share: number;
            should_compact: boolean;
            /** Format: int32 */
            threshold_tokens: number | null;
            trigger: components["schemas"]["Trigger"] | null;
            urgency: components["schemas"]["Urgency"];
            /** Format: int32 */
            usable_tokens: number;
        };
        CheckAnswer: components["schemas"]["ContextFullness"] & {
            format: string;
        };
        CommandResult: {
            compacted?: components["schemas"]["Compacted"];
            context?: components["schemas"]["ContextTokens"];
            history?: components["schemas"]["History"];
            name: string;
            recalled?: components["schemas"]["Recalled"];
            text: string;
            undone?: components["schemas"]["Undone"];
        };
        CompactAnswer: components["schemas"]["RequestOutcome"] & {
            request: Record<string, never>;
            warnings?: string[];
        };
        Compacted: {
            context: components["schemas"]["ContextTokens"];
            /** Format: int32 */
            epoch: number | null;
            report: components["schemas"]["Report"];
            /** Format: int64 */
            version: number;
        };
        CompressAnswer: {
            ccr_hashes: string[];
            /** Format: double */
            compression_ratio: number;
            messages: Record<string, never>[];
            status: string;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int32 */
            tokens_saved: number;
            transforms_applied: string[];
        };
        CompressRequest: {
            config?: Record<string, never> | null;
            messages: Record<string, never>[];
            model?: string | null;
            /** Format: int32 */
            token_budget?: number | null;
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
            calls: number;
            counter: string;
            parts: components["schemas"]["ContextPart"][];
            rounds: number;
            task: components["schemas"]["Verdict"];
            /** Format: int32 */
            tokens: number;
            tokens_by_role: {
                [key: string]: number;
            };
            tokens_by_tool: {
                [key: string]: number;
            };
            /** Format: int32 */
            tool_definition_tokens: number;
        };
        ContextFullness: components["schemas"]["Check"] & {
            counter: string;
            exact: boolean;
            /** Format: int32 */
            reserve_output_tokens: number;
            /** Format: int32 */
            tool_definition_tokens: number;
            /** Format: int32 */
            window_tokens: number;
        };
        ContextPart: {
            items: components["schemas"]["ContextPartItem"][];
            /** Format: int32 */
            messages: number;
            part: components["schemas"]["PartKind"];
            /** Format: int32 */
            tokens: number;
        };
        ContextPartItem: {
            /** Format: int32 */
            count: number;
            name: string;
            /** Format: int32 */
            tokens: number;
        };
        ContextReport: {
            contents: components["schemas"]["ContextContents"];
            fullness: components["schemas"]["ContextFullness"];
            log_messages: number;
            messages: number;
            next: components["schemas"]["NextCompaction"];
            removed: components["schemas"]["RemovedContent"];
            usage: components["schemas"]["ReportedUsage"] | null;
            warnings: components["schemas"]["ContextWarning"][];
        };
        ContextTokens: {
            estimated: boolean;
            /** Format: int32 */
            maxTokens: number;
            /** Format: double */
            percent: number;
            /** Format: double */
            thresholdPercent: number;
            /** Format: int32 */
            usedTokens: number;
        };
        ContextWarning: {
            id: string;
            /** Format: int32 */
            position: number;
            /** Format: double */
            share: number;
            /** Format: int32 */
            tokens: number;
            tool: string | null;
            /** @enum {string} */
            warning: "large-message";
        } | {
            arguments: string;
            /** Format: int32 */
            of: number;
            /** Format: int32 */
            position: number;
            /** Format: int32 */
            times: number;
            tool: string;
            /** @enum {string} */
            warning: "repeated-call";
        };
        CountAnswer: {
            counter: string;
            exact: boolean;
            /** Format: int32 */
            tokens: number;
        };
        CountAsk: {
            counter?: string | null;
            format?: string | null;
            request?: Record<string, never> | null;
            text?: string | null;
        };
        Departure: {
            edit: components["schemas"]["EditKind"];
            /** Format: int32 */
            first: number | null;
            /** Format: int32 */
            last: number | null;
            /** Format: int32 */
            messages: number;
            mostly: components["schemas"]["PartKind"] | null;
            reason: components["schemas"]["ReasonReport"];
            strategy: string;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            tokens_saved: number;
            words: string;
        };
        Description: {
            agent?: string | null;
            settings?: Record<string, never> | null;
            title?: string | null;
        };
        /** @enum {string} */
        Dialect: "anthropic" | "openai-chat" | "openai-responses" | "pi" | "gemini";
        /** @enum {string} */
        Did: "nothing" | "compacted" | "confirmation-needed" | "refused" | "new-session";
        DraftSummary: {
            heading: string;
            /** Format: int32 */
            most_tokens: number;
            /** Format: int32 */
            number: number;
            text: string;
            /** Format: int32 */
            tokens: number;
        };
        /** @enum {string} */
        EditKind: "drop" | "summarize" | "excerpt" | "trim";
        EditReport: {
            edit: components["schemas"]["EditKind"];
            messages: components["schemas"]["MessageId"][];
            reason: components["schemas"]["ReasonReport"];
            recall: string | null;
            strategy: string;
            /** Format: int32 */
            tokens_saved: number;
        };
        EditedSummary: {
            /** Format: int32 */
            number: number;
            text: string;
        };
        EpochAnswer: {
            after: components["schemas"]["StoredMessage"][];
            before: components["schemas"]["StoredMessage"][];
            edits: components["schemas"]["EditReport"][];
            entry: components["schemas"]["HistoryItem"];
            summarizer?: components["schemas"]["SummarizerRecord"];
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
            code: components["schemas"]["ErrorCode"];
            help: string;
            message: string;
            type: string;
        };
        Floor: {
            parts: components["schemas"]["FloorPart"][];
            /** Format: int32 */
            tokens: number;
        };
        FloorPart: {
            /** Format: int32 */
            messages: number;
            part: string;
            /** Format: int32 */
            tokens: number;
            /** Format: int32 */
            tokens_before: number;
        };
        Found: {
            more: boolean;
            passages: components["schemas"]["FoundPassage"][];
            sessions?: number;
        };
        FoundLine: {
            line: number;
            text: string;
        };
        FoundPassage: {
            file?: string | null;
            handle?: string | null;
            in_context: boolean;
            message: string;
            /** Format: int32 */
            number: number;
            role: components["schemas"]["Role"];
            /** Format: float */
            score: number;
            session?: string;
            taken_back: number[];
            text: string;
            tool?: string | null;
        };
        History: {
            epochs: components["schemas"]["HistoryItem"][];
        };
        HistoryEntry: {
            edits: {
                [key: string]: number;
            };
            /** Format: int32 */
            epoch: number;
            /** Format: int32 */
            messages: number;
            origin: components["schemas"]["EpochOrigin"];
            recall: string[];
            summaries: string[];
            /** Format: int32 */
            tokens_after: number | null;
            /** Format: int32 */
            tokens_before: number | null;
            trigger: components["schemas"]["Trigger"];
            undone: boolean;
        };
        HistoryItem: components["schemas"]["HistoryEntry"] & {
            /** Format: int64 */
            at: number | null;
            /** Format: int32 */
            covered_by: number | null;
            /** Format: int64 */
            undone_at: number | null;
        };
        Imported: {
            sessions: components["schemas"]["Session"][];
            warnings: string[];
        };
        InspectAnswer: components["schemas"]["ContextContents"] & {
            format: string;
            largest: components["schemas"]["LargeMessage"][];
            messages: number;
        };
        Kept: {
            kept: string[];
        };
        KeptShare: {
            /** Format: int32 */
            held: number;
            /** Format: int32 */
            kept: number;
            lost: string[];
            lost_earlier: string[];
            /** Format: int32 */
            lost_now: number;
            /** Format: double */
            share: number;
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
        MaintainAsk: {
            confirm?: boolean | null;
        };
        MaintainOutcome: {
            check: components["schemas"]["Check"];
            context: components["schemas"]["ContextTokens"];
            did: components["schemas"]["Did"];
            draft?: string;
            /** Format: int32 */
            epoch?: number;
            /** Format: int64 */
            expires_at?: number;
            report?: components["schemas"]["Report"];
            session?: components["schemas"]["Session"];
            summaries?: components["schemas"]["DraftSummary"][];
            /** Format: int64 */
            version: number;
        };
        Media: {
            detail?: string;
            mime: string;
            name?: string;
            source: components["schemas"]["MediaSource"];
        };
        MediaSource: {
            /** @enum {string} */
            kind: "base64";
            value: string;
        } | {
            /** @enum {string} */
            kind: "url";
            value: string;
        } | {
            /** @enum {string} */
            kind: "missing";
        };
        Memory: {
            id: string;
            kind: components["schemas"]["MemoryKind"];
            message: string;
            session?: string | null;
            text: string;
            /** Format: int64 */
            time?: number | null;
        };
        /** @enum {string} */
        MemoryKind: "decision" | "preference" | "instruction" | "identifier" | "fact" | "command" | "commit";
        MemoryList: {
            items: components["schemas"]["Memory"][];
        };
        Message: {
            blocks: components["schemas"]["MessageBlock"][];
            id: components["schemas"]["MessageId"];
            name?: string;
            origin: components["schemas"]["Origin"];
            pinned?: boolean;
            recorded_call_id?: string;
            records?: number[];
            role: components["schemas"]["Role"];
            text_calls?: components["schemas"]["TextCall"][];
            /** Format: int64 */
            timestamp?: number;
            usage?: components["schemas"]["Usage"];
        };
        MessageBlock: {
            content: components["schemas"]["Content"];
            instructions?: components["schemas"]["TextRange"][];
            raw?: components["schemas"]["RawBlock"];
            typed?: components["schemas"]["TextRange"][];
        };
        MessageId: string;
        Messages: {
            messages: components["schemas"]["StoredMessage"][];
            /** Format: int32 */
            total: number;
            /** Format: int64 */
            version: number;
        };
        /** @enum {string} */
        Mode: "fixed" | "adaptive" | "tournament";
        NewMessages: {
            /** @default true */
            commands: boolean;
            format?: string | null;
            messages: Record<string, never>[];
            tools?: Record<string, never>[] | null;
            usage?: components["schemas"]["CallUsage"] | null;
        };
        NewSession: {
            agent?: string | null;
            format?: string | null;
            id?: string | null;
            request?: Record<string, never> | null;
            settings?: Record<string, never> | null;
            title?: string | null;
        };
        NextCompaction: {
            chain: string[];
            departures: components["schemas"]["Departure"][];
            floor?: components["schemas"]["Floor"];
            problem?: string;
            status: components["schemas"]["Status"] | null;
            /** Format: int32 */
            stay: number;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_before: number;
            trigger: components["schemas"]["Trigger"];
        };
        OpaqueBlock: {
            dialect: components["schemas"]["Dialect"];
            json: string;
            kind: string;
        };
        /** @enum {string} */
        Origin: "instructions" | "developer" | "configuration" | "typed" | "injected" | "tool-output" | "model" | "tool" | "summary" | "notice" | "answer";
        /** @enum {string} */
        Outcome: "kept" | "excerpted" | "trimmed" | "summarized" | "dropped" | "pinned";
        OverflowAsk: {
            body: unknown;
            /** Format: int64 */
            limit?: number | null;
            /** Format: int32 */
            status?: number | null;
            /** Format: int64 */
            tokens?: number | null;
        };
        OverflowRetry: {
            /** Format: int32 */
            attempts_left: number;
            /** Format: int32 */
            limit: number;
        };
        Overflowed: {
            context: components["schemas"]["ContextTokens"];
            /** Format: int32 */
            epoch: number | null;
            report: components["schemas"]["Report"];
            retry: components["schemas"]["OverflowRetry"];
            /** Format: int64 */
            version: number;
        };
        /** @enum {string} */
        PartKind: "system-prompt" | "tool-definitions" | "instructions" | "task" | "user" | "assistant" | "thinking" | "tool-calls" | "tool-results" | "files-read" | "images" | "summaries" | "other";
        PreviewAnswer: components["schemas"]["RequestOutcome"] & {
            draft: Record<string, never>;
            summaries: components["schemas"]["DraftSummary"][];
        };
        ProxiedConversation: {
            /** Format: int64 */
            began: number;
            /** Format: int32 */
            compactions: number;
            interface: string;
            /** Format: int64 */
            last: number;
            /** Format: int64 */
            lookups: number;
            /** Format: int64 */
            lookups_found: number;
            model: string | null;
            /** Format: double */
            price: number | null;
            reported: components["schemas"]["ReportedTokens"];
            /** Format: int64 */
            requests: number;
            title: string;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_before: number;
            /** Format: int64 */
            tokens_saved: number;
            /** Format: int32 */
            tokens_usable: number;
        };
        ProxiedConversations: {
            items: components["schemas"]["ProxiedConversation"][];
            total: number;
        };
        Quality: {
            below: components["schemas"]["Shortfall"][];
            conclusions: components["schemas"]["KeptShare"];
            files: components["schemas"]["KeptShare"];
            instructions: components["schemas"]["KeptShare"];
            /** Format: double */
            share: number;
            strings: components["schemas"]["KeptShare"];
            summaries: components["schemas"]["KeptShare"];
            tried: components["schemas"]["Try"][];
            typed: components["schemas"]["KeptShare"];
        };
        /** @enum {string} */
        QualityPart: "typed" | "instructions" | "conclusions" | "summaries" | "strings" | "files";
        RawBlock: {
            dialect: components["schemas"]["Dialect"];
            json: string;
        };
        Ready: {
            proxy: boolean;
            sessions: string;
            status: string;
            takes_channels: boolean;
        };
        ReasonReport: {
            code: string;
            detail: string;
            /** Format: float */
            score: number | null;
        };
        Recalled: {
            handle: string;
            kind: string;
            messages?: components["schemas"]["StoredMessage"][];
            text?: string;
        };
        Receipt: {
            id: components["schemas"]["MessageId"];
            outcome: components["schemas"]["Outcome"];
            role: components["schemas"]["Role"];
        };
        RecentMessages: {
            /** Format: int32 */
            asked: number;
            /** Format: int32 */
            kept: number;
        };
        ReleaseAsk: {
            messages: string[];
        };
        Released: {
            released: string[];
            /** Format: int64 */
            version: number;
        };
        RemovedContent: {
            /** Format: int32 */
            compactions: number;
            items: components["schemas"]["RemovedItem"][];
            /** Format: int32 */
            messages: number;
            /** Format: int32 */
            shortened: number;
            /** Format: int32 */
            tokens: number;
        };
        RemovedItem: {
            edit: components["schemas"]["EditKind"];
            /** Format: int32 */
            epoch: number;
            /** Format: int32 */
            first: number | null;
            handle: string | null;
            /** Format: int32 */
            messages: number;
            origin: components["schemas"]["EpochOrigin"];
            reason: string;
            /** Format: int32 */
            tokens: number;
            trigger: components["schemas"]["Trigger"];
            words: string;
        };
        Repairs: {
            /** Format: int32 */
            answered: number;
            /** Format: int32 */
            empty: number;
            /** Format: int32 */
            removed: number;
            /** Format: int32 */
            tokens: number;
        };
        Report: {
            /** Format: int32 */
            budget: number;
            by_hand?: components["schemas"]["ByHandReport"];
            /** Format: int32 */
            cache_loss_tokens: number;
            chain: string[];
            counter: string;
            /** Format: int32 */
            cycle: number;
            edits: components["schemas"]["EditReport"][];
            /** Format: int32 */
            first_changed_message: number | null;
            floor: components["schemas"]["Floor"] | null;
            /** Format: int32 */
            flushed_memories: number;
            messages: components["schemas"]["Receipt"][];
            /** Format: int32 */
            messages_after: number;
            /** Format: int32 */
            messages_before: number;
            mode: components["schemas"]["Mode"];
            quality: components["schemas"]["Quality"] | null;
            recent?: components["schemas"]["RecentMessages"];
            repaired?: components["schemas"]["Repairs"];
            /** Format: double */
            saved_ratio: number;
            status: components["schemas"]["Status"];
            /** Format: int32 */
            stays: number;
            steps: components["schemas"]["Step"][];
            stopped?: string;
            summarizer: components["schemas"]["SummarizerReport"];
            summary: string | null;
            /** Format: int32 */
            target: number;
            task: components["schemas"]["Verdict"];
            timings: components["schemas"]["Timings"];
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_before: number;
            trigger: components["schemas"]["Trigger"];
        };
        ReportedTokens: {
            /** Format: int64 */
            answers: number;
            /** Format: int64 */
            cache_writes: number;
            /** Format: int64 */
            cached: number;
            /** Format: int64 */
            input: number;
            /** Format: int64 */
            output: number;
            /** Format: int64 */
            unpriced: number;
        };
        ReportedUsage: {
            messages_since: number;
            /** Format: int64 */
            tokens: number;
        };
        RequestOutcome: {
            format: string;
            report: components["schemas"]["Report"];
            status: components["schemas"]["Status"];
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_before: number;
        };
        RetrieveAnswer: {
            count?: number | null;
            hash: string;
            kind: string;
            messages?: Record<string, never> | null;
            original_content: string;
            original_item_count: number;
            /** Format: int32 */
            original_tokens: number;
            results?: components["schemas"]["FoundLine"][] | null;
            /** Format: int32 */
            retrieval_count: number;
        };
        RetrieveRequest: {
            format?: string | null;
            hash: string;
            query?: string | null;
        };
        /** @enum {string} */
        Role: "system" | "user" | "assistant" | "tool";
        ServerSentEvent: {
            data: string;
            event: string;
            id?: string | null;
        };
        Session: components["schemas"]["SessionInfo"] & {
            budget: components["schemas"]["SessionBudget"];
            context: components["schemas"]["ContextTokens"];
            problem?: string;
            running: boolean;
            task: components["schemas"]["SessionTask"];
        };
        SessionBudget: {
            /** Format: int32 */
            hard: number | null;
            /** Format: int32 */
            soft: number | null;
            /** Format: int32 */
            target: number;
            /** Format: int32 */
            usable: number;
            /** Format: int32 */
            window: number;
        };
        SessionCheck: {
            check: components["schemas"]["Check"];
            context: components["schemas"]["ContextTokens"];
        };
        SessionEvent: {
            /** @enum {string} */
            event: "compaction_start";
            /** Format: int32 */
            messageCount: number;
            reason: components["schemas"]["Trigger"];
        } | {
            /** Format: int32 */
            edits: number;
            /** @enum {string} */
            event: "compaction_step";
            strategy: string;
            /** Format: int32 */
            tokensAfter: number;
            /** Format: int32 */
            tokensBefore: number;
        } | {
            /** Format: int32 */
            count: number;
            /** @enum {string} */
            event: "summary_start";
            /** Format: int32 */
            messageCount: number;
        } | {
            /** @enum {string} */
            event: "summary_done";
            /** Format: int64 */
            inputTokens: number;
            /** Format: int64 */
            outputTokens: number;
            problem: string | null;
        } | {
            /** Format: int32 */
            compactedCount: number;
            /** Format: int32 */
            epoch: number | null;
            /** @enum {string} */
            event: "compaction_done";
            /** Format: int32 */
            flushedMemories: number;
            /** Format: int32 */
            keepRecentCount: number;
            /** Format: double */
            savedRatio: number;
            status: components["schemas"]["Status"];
            stopped: string | null;
            success: boolean;
            summaryContent: string | null;
            summaryMessageId: string | null;
            /** Format: int32 */
            tokensAfter: number;
            /** Format: int32 */
            tokensBefore: number;
        } | {
            /** @enum {string} */
            event: "compaction_error";
            message: string;
            retryable: boolean;
        } | {
            /** Format: int32 */
            epoch: number;
            /** @enum {string} */
            event: "arrival_cut";
            /** Format: int32 */
            tokensAfter: number;
            /** Format: int32 */
            tokensBefore: number;
        } | {
            /** Format: int32 */
            epoch: number;
            /** @enum {string} */
            event: "results_cleared";
            /** Format: int32 */
            tokensAfter: number;
            /** Format: int32 */
            tokensBefore: number;
        } | {
            /** Format: int32 */
            epoch: number;
            /** @enum {string} */
            event: "undone";
            /** Format: int32 */
            tokens: number;
        } | {
            context: components["schemas"]["ContextTokens"];
            /** @enum {string} */
            event: "token_update";
            usage: components["schemas"]["TurnUsage"] | null;
        };
        SessionInfo: components["schemas"]["SessionMetadata"] & {
            /** Format: int64 */
            created_at: number;
            /** Format: int32 */
            epochs: number;
            id: string;
            /** Format: int32 */
            messages: number;
            /** Format: int64 */
            updated_at: number;
            /** Format: int64 */
            version: number;
        };
        SessionList: {
            items: components["schemas"]["SessionInfo"][];
            next: string | null;
        };
        SessionMetadata: {
            agent?: string;
            settings?: Record<string, never>;
            title?: string;
        };
        SessionPreview: {
            after?: components["schemas"]["StoredMessage"][];
            before?: components["schemas"]["StoredMessage"][];
            draft: string;
            /** Format: int64 */
            expires_at: number;
            report: components["schemas"]["Report"];
            summaries: components["schemas"]["DraftSummary"][];
        };
        SessionTask: {
            /** Format: double */
            confidence: number;
            kind: components["schemas"]["TaskKind"];
        };
        Shortfall: {
            /** Format: double */
            least: number;
            part: components["schemas"]["QualityPart"];
            /** Format: double */
            share: number;
        };
        /** @enum {string} */
        Source: "configuration" | "stored";
        /** @enum {string} */
        Status: "no-change" | "compacted" | "hollow" | "infeasible" | "rolled-back";
        StayingMessages: {
            messages: string;
            why: string;
        };
        Step: {
            declined: string | null;
            /** Format: int64 */
            duration_us: number;
            /** Format: int32 */
            edits: number;
            /** Format: int32 */
            refused: number;
            strategy: string;
            /** Format: int32 */
            tokens_after: number;
            /** Format: int32 */
            tokens_before: number;
        };
        StoredMessage: {
            /** Format: int64 */
            compacted_at: number | null;
            compacted_into: string | null;
            is_edited: boolean;
            is_summary: boolean;
            message: components["schemas"]["Message"];
            /** Format: int32 */
            number: number | null;
        };
        Subject: {
            /** Format: int32 */
            budget?: number | null;
            chain?: string[] | null;
            draft?: Record<string, never> | null;
            focus?: string | null;
            format?: string | null;
            mode?: string | null;
            model?: string | null;
            request: Record<string, never>;
            settings?: Record<string, never>;
            summaries?: components["schemas"]["EditedSummary"][];
            /** Format: int32 */
            target?: number | null;
            task?: string | null;
            /** Format: int32 */
            window?: number | null;
        };
        SummarizerRecord: {
            checks?: components["schemas"]["SummaryCheck"][];
            fell_back: boolean;
            kind: string;
            problem?: string;
            written?: number[];
        };
        SummarizerReport: {
            /** Format: int64 */
            cached_tokens?: number;
            checks?: components["schemas"]["SummaryCheck"][];
            fell_back: boolean;
            /** Format: int64 */
            input_tokens: number;
            kind: string;
            /** Format: int64 */
            output_tokens: number;
            problem?: string;
        };
        SummaryCheck: {
            added_demands?: string[];
            added_files?: string[];
            asked_again?: string;
            corrected?: string[];
            /** Format: int32 */
            demands: number;
            /** Format: int32 */
            files: number;
            left_out?: string[];
            /** Format: int32 */
            strings: number;
            unknown?: string[];
        };
        /** @enum {string} */
        TaskKind: "code" | "analysis" | "conversation" | "mixed" | "unknown";
        TextCall: {
            /** Format: int32 */
            block: number;
            /** Format: int32 */
            end: number;
            name: string;
            /** Format: int32 */
            start: number;
        };
        TextRange: {
            /** Format: int32 */
            end: number;
            /** Format: int32 */
            start: number;
        };
        Thinking: {
            redacted?: boolean;
            signature?: string;
            text: string;
        };
        Timings: {
            /** Format: int64 */
            configure_us?: number;
            /** Format: int64 */
            count_us?: number;
            /** Format: int64 */
            detect_us: number;
            /** Format: int64 */
            plan_us: number;
            /** Format: int64 */
            quality_us: number;
            /** Format: int64 */
            read_us?: number;
            /** Format: int64 */
            write_us?: number;
        };
        ToolCall: {
            arguments: components["schemas"]["Arguments"];
            id: string;
            name: string;
        };
        ToolResult: {
            attachments?: components["schemas"]["Media"][];
            call_id: string;
            is_error?: boolean;
            name?: string;
            text: string;
        };
        /** @enum {string} */
        Trigger: "manual" | "soft" | "hard" | "remaining-share" | "rounds" | "marker" | "overflow" | "arrival" | "clearing" | "recorded" | "taken-back" | "kept";
        Try: {
            below: components["schemas"]["Shortfall"][];
            chain: string[];
            problem?: string;
            /** Format: double */
            share: number | null;
            /** Format: int32 */
            tokens_after: number;
        };
        TurnUsage: {
            /** Format: int32 */
            calls: number;
            /** Format: int64 */
            inputTokens: number;
            /** Format: int64 */
            outputTokens: number;
            /** Format: int64 */
            totalTokens: number;
        };
        UndoAsk: {
            /** Format: int64 */
            epoch?: number | null;
        };
        Undone: {
            context: components["schemas"]["ContextTokens"];
            /** Format: int32 */
            epoch: number;
            /** Format: int64 */
            version: number;
        };
        /** @enum {string} */
        Urgency: "none" | "soft" | "hard";
        Usage: {
            /** Format: int64 */
            cache_read: number;
            /** Format: int64 */
            cache_write: number;
            /** Format: int64 */
            input: number;
            /** Format: int64 */
            output: number;
        };
        Verdict: {
            /** Format: double */
            confidence: number;
            evidence: string[];
            kind: components["schemas"]["TaskKind"];
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
export type ApplyAsk = components['schemas']['ApplyAsk'];
export type Arguments = components['schemas']['Arguments'];
export type Ask = components['schemas']['Ask'];
export type ByHandReport = components['schemas']['ByHandReport'];
export type CallUsage = components['schemas']['CallUsage'];
export type Channel = components['schemas']['Channel'];
export type ChannelBody = components['schemas']['ChannelBody'];
export type ChannelList = components['schemas']['ChannelList'];
export type Check = components['schemas']['Check'];
export type CheckAnswer = components['schemas']['CheckAnswer'];
export type CommandResult = components['schemas']['CommandResult'];
export type CompactAnswer = components['schemas']['CompactAnswer'];
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
export type CountAsk = components['schemas']['CountAsk'];
export type Departure = components['schemas']['Departure'];
export type Description = components['schemas']['Description'];
export type Dialect = components['schemas']['Dialect'];
export type Did = components['schemas']['Did'];
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
export type Found = components['schemas']['Found'];
export type FoundLine = components['schemas']['FoundLine'];
export type FoundPassage = components['schemas']['FoundPassage'];
export type History = components['schemas']['History'];
export type HistoryEntry = components['schemas']['HistoryEntry'];
export type HistoryItem = components['schemas']['HistoryItem'];
export type Imported = components['schemas']['Imported'];
export type InspectAnswer = components['schemas']['InspectAnswer'];
export type Kept = components['schemas']['Kept'];
export type KeptShare = components['schemas']['KeptShare'];
export type KeyName = components['schemas']['KeyName'];
export type Kind = components['schemas']['Kind'];
export type LargeMessage = components['schemas']['LargeMessage'];
export type MaintainAsk = components['schemas']['MaintainAsk'];
export type MaintainOutcome = components['schemas']['MaintainOutcome'];
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
export type NewMessages = components['schemas']['NewMessages'];
export type NewSession = components['schemas']['NewSession'];
export type NextCompaction = components['schemas']['NextCompaction'];
export type OpaqueBlock = components['schemas']['OpaqueBlock'];
export type Origin = components['schemas']['Origin'];
export type Outcome = components['schemas']['Outcome'];
export type OverflowAsk = components['schemas']['OverflowAsk'];
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
export type Recalled = components['schemas']['Recalled'];
export type Receipt = components['schemas']['Receipt'];
export type RecentMessages = components['schemas']['RecentMessages'];
export type ReleaseAsk = components['schemas']['ReleaseAsk'];
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
export type Trigger = components['schemas']['Trigger'];
export type Try = components['schemas']['Try'];
export type TurnUsage = components['schemas']['TurnUsage'];
export type UndoAsk = components['schemas']['UndoAsk'];
export type Undone = components['schemas']['Undone'];
export type Urgency = components['schemas']['Urgency'];
export type Usage = components['schemas']['Usage'];
export type Verdict = components['schemas']['Verdict'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
