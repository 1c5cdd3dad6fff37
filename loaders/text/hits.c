/* SPDX-License-Identifier: MIT */
/* The schema of hits: names and types from ClickBench's create.sql. */
#include "hits.h"

#include <string.h>

const agb_text_named_kind agb_text_hits[AGB_TEXT_HITS_COLUMNS] = {
    {"WatchID", AGB_TEXT_INT64}, {"JavaEnable", AGB_TEXT_INT16}, {"Title", AGB_TEXT_STRING},
    {"GoodEvent", AGB_TEXT_INT16}, {"EventTime", AGB_TEXT_TIME}, {"EventDate", AGB_TEXT_DATE},
    {"CounterID", AGB_TEXT_INT32}, {"ClientIP", AGB_TEXT_INT32}, {"RegionID", AGB_TEXT_INT32},
    {"UserID", AGB_TEXT_INT64}, {"CounterClass", AGB_TEXT_INT16}, {"OS", AGB_TEXT_INT16},
    {"UserAgent", AGB_TEXT_INT16}, {"URL", AGB_TEXT_STRING}, {"Referer", AGB_TEXT_STRING},
    {"IsRefresh", AGB_TEXT_INT16}, {"RefererCategoryID", AGB_TEXT_INT16}, {"RefererRegionID", AGB_TEXT_INT32},
    {"URLCategoryID", AGB_TEXT_INT16}, {"URLRegionID", AGB_TEXT_INT32}, {"ResolutionWidth", AGB_TEXT_INT16},
    {"ResolutionHeight", AGB_TEXT_INT16}, {"ResolutionDepth", AGB_TEXT_INT16}, {"FlashMajor", AGB_TEXT_INT16},
    {"FlashMinor", AGB_TEXT_INT16}, {"FlashMinor2", AGB_TEXT_STRING}, {"NetMajor", AGB_TEXT_INT16},
    {"NetMinor", AGB_TEXT_INT16}, {"UserAgentMajor", AGB_TEXT_INT16}, {"UserAgentMinor", AGB_TEXT_STRING},
    {"CookieEnable", AGB_TEXT_INT16}, {"JavascriptEnable", AGB_TEXT_INT16}, {"IsMobile", AGB_TEXT_INT16},
    {"MobilePhone", AGB_TEXT_INT16}, {"MobilePhoneModel", AGB_TEXT_STRING}, {"Params", AGB_TEXT_STRING},
    {"IPNetworkID", AGB_TEXT_INT32}, {"TraficSourceID", AGB_TEXT_INT16}, {"SearchEngineID", AGB_TEXT_INT16},
    {"SearchPhrase", AGB_TEXT_STRING}, {"AdvEngineID", AGB_TEXT_INT16}, {"IsArtifical", AGB_TEXT_INT16},
    {"WindowClientWidth", AGB_TEXT_INT16}, {"WindowClientHeight", AGB_TEXT_INT16}, {"ClientTimeZone", AGB_TEXT_INT16},
    {"ClientEventTime", AGB_TEXT_TIME}, {"SilverlightVersion1", AGB_TEXT_INT16},
    {"SilverlightVersion2", AGB_TEXT_INT16}, {"SilverlightVersion3", AGB_TEXT_INT32},
    {"SilverlightVersion4", AGB_TEXT_INT16}, {"PageCharset", AGB_TEXT_STRING}, {"CodeVersion", AGB_TEXT_INT32},
    {"IsLink", AGB_TEXT_INT16}, {"IsDownload", AGB_TEXT_INT16}, {"IsNotBounce", AGB_TEXT_INT16},
    {"FUniqID", AGB_TEXT_INT64}, {"OriginalURL", AGB_TEXT_STRING}, {"HID", AGB_TEXT_INT32},
    {"IsOldCounter", AGB_TEXT_INT16}, {"IsEvent", AGB_TEXT_INT16}, {"IsParameter", AGB_TEXT_INT16},
    {"DontCountHits", AGB_TEXT_INT16}, {"WithHash", AGB_TEXT_INT16}, {"HitColor", AGB_TEXT_STRING},
    {"LocalEventTime", AGB_TEXT_TIME}, {"Age", AGB_TEXT_INT16}, {"Sex", AGB_TEXT_INT16}, {"Income", AGB_TEXT_INT16},
    {"Interests", AGB_TEXT_INT16}, {"Robotness", AGB_TEXT_INT16}, {"RemoteIP", AGB_TEXT_INT32},
    {"WindowName", AGB_TEXT_INT32}, {"OpenerName", AGB_TEXT_INT32}, {"HistoryLength", AGB_TEXT_INT16},
    {"BrowserLanguage", AGB_TEXT_STRING}, {"BrowserCountry", AGB_TEXT_STRING}, {"SocialNetwork", AGB_TEXT_STRING},
    {"SocialAction", AGB_TEXT_STRING}, {"HTTPError", AGB_TEXT_INT16}, {"SendTiming", AGB_TEXT_INT32},
    {"DNSTiming", AGB_TEXT_INT32}, {"ConnectTiming", AGB_TEXT_INT32}, {"ResponseStartTiming", AGB_TEXT_INT32},
    {"ResponseEndTiming", AGB_TEXT_INT32}, {"FetchTiming", AGB_TEXT_INT32}, {"SocialSourceNetworkID", AGB_TEXT_INT16},
    {"SocialSourcePage", AGB_TEXT_STRING}, {"ParamPrice", AGB_TEXT_INT64}, {"ParamOrderID", AGB_TEXT_STRING},
    {"ParamCurrency", AGB_TEXT_STRING}, {"ParamCurrencyID", AGB_TEXT_INT16}, {"OpenstatServiceName", AGB_TEXT_STRING},
    {"OpenstatCampaignID", AGB_TEXT_STRING}, {"OpenstatAdID", AGB_TEXT_STRING}, {"OpenstatSourceID", AGB_TEXT_STRING},
    {"UTMSource", AGB_TEXT_STRING}, {"UTMMedium", AGB_TEXT_STRING}, {"UTMCampaign", AGB_TEXT_STRING},
    {"UTMContent", AGB_TEXT_STRING}, {"UTMTerm", AGB_TEXT_STRING}, {"FromTag", AGB_TEXT_STRING},
    {"HasGCLID", AGB_TEXT_INT16}, {"RefererHash", AGB_TEXT_INT64}, {"URLHash", AGB_TEXT_INT64},
    {"CLID", AGB_TEXT_INT32},
};

bool agb_text_kind_of(const char *name, agb_text_kind *kind)
{
    *kind = AGB_TEXT_STRING;
    for (size_t i = 0; i < AGB_TEXT_HITS_COLUMNS; i++)
        if (strcmp(agb_text_hits[i].name, name) == 0) {
            *kind = agb_text_hits[i].kind;
            return true;
        }
    return false;
}

agb_type agb_text_kind_type(agb_text_kind kind)
{
    switch (kind) {
    case AGB_TEXT_INT16:
    case AGB_TEXT_INT32:
        return AGB_TYPE_INT32;
    case AGB_TEXT_INT64:
    case AGB_TEXT_TIME:
        return AGB_TYPE_INT64;
    case AGB_TEXT_DATE:
    case AGB_TEXT_UINT32:
        return AGB_TYPE_UINT32;
    case AGB_TEXT_UINT64:
        return AGB_TYPE_UINT64;
    case AGB_TEXT_STRING:
        break;
    }
    return AGB_TYPE_BYTES;
}

const char *agb_text_kind_detail(agb_text_kind kind)
{
    switch (kind) {
    case AGB_TEXT_INT16:
        return "integer of 16 bits";
    case AGB_TEXT_INT32:
        return "integer of 32 bits";
    case AGB_TEXT_INT64:
        return "integer of 64 bits";
    case AGB_TEXT_UINT32:
        return "unsigned integer of 32 bits";
    case AGB_TEXT_UINT64:
        return "unsigned integer of 64 bits";
    case AGB_TEXT_TIME:
        return "YYYY-MM-DD hh:mm:ss, held as seconds since 1970-01-01 00:00:00 UTC";
    case AGB_TEXT_DATE:
        return "YYYY-MM-DD, held as days since 1970-01-01";
    case AGB_TEXT_STRING:
        break;
    }
    return "bytes";
}
