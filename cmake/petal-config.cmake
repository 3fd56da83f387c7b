# find_package(petal): petal::static, petal::shared, and petal::petal, which follows BUILD_SHARED_LIBS as in the build.
include(${CMAKE_CURRENT_LIST_DIR}/petal-targets.cmake)
if(NOT TARGET petal::petal)
    if(BUILD_SHARED_LIBS)
        add_library(petal::petal ALIAS petal::shared)
    else()
        add_library(petal::petal ALIAS petal::static)
    endif()
endif()
