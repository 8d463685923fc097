# Writes OUT with the commit of SOURCE and whether it was changed since; leaves it alone when nothing is new.
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE sha OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
if(NOT sha)
  set(sha unknown)
endif()
if(changes STREQUAL "")
  set(dirty false)
else()
  set(dirty true)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
// Written by git_state.cmake at every build.
namespace redline::experiment {
extern const char* const kGitSha;
extern const bool kGitDirty;
const char* const kGitSha = "@sha@";
const bool kGitDirty = @dirty@;
}  // namespace redline::experiment
]] @ONLY)
